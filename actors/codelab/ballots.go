package codelab

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/durable"
)

// Anonymous polls (transport/rest/RULES.md, "Polls"). A vote must be stored before it is
// acknowledged, and nobody can vote twice. For this reason, the event of a vote identifies the
// voter and contains the ballot, sealed under a secret of the poll's current round. Each node
// that has the secret stores it in a file, outside of databases and backups. Nobody sees a ballot
// while the poll is open. Closing the poll writes the result in one event. Afterwards the ballots
// are erased from the log in the same way as personal data, and the secret is destroyed. An old
// copy of the log shows who voted, but not how.
//
// Nothing else reveals a vote. All ballots of a poll have the same length, snapshots store them
// separately from the voters, and texts are in random order. If there are too few votes, closing
// the poll writes no result.

// BallotKeys stores the secrets of anonymous polls.
type BallotKeys interface {
	// Make creates a secret. When Make returns, every living node that can write its folder has the
	// secret on disk. These nodes are its keepers; a single server has none. The id begins with the
	// codelab's id. If this node cannot write its folder, the error is durable.ErrReadOnly. If no
	// other node of the cluster can store the secret, the error is ErrTooFewKeepers.
	Make(codelab string) (id string, keepers []string, err error)
	// Destroy permanently removes a secret from this node.
	Destroy(id string)
	// Old returns the ids of the secrets on this node that are older than any command in progress.
	// If the command for such a secret succeeded, a poll therefore already contains the id.
	Old() (ids []string)
}

// ErrTooFewKeepers means that a secret would be on the disk of only one node of a cluster.
var ErrTooFewKeepers = fmt.Errorf("%w: fewer than two nodes can keep the secret", durable.ErrUnavailable)

// ballotKey returns the secret with this id, or nil if it is missing.
func (r *Rules) ballotKey(id string) []byte {
	if r.BallotKey == nil || id == "" {
		return nil
	}
	return r.BallotKey(id)
}

const (
	// fewestVotes is the minimum number of votes for a result. A result of fewer votes would reveal
	// single votes. With five or more votes, any result is shown, even a unanimous one. Withholding
	// it would reveal that it is unanimous, and any voter would then know all votes.
	fewestVotes = 5
	maxBallots  = 64 << 20 // bytes of one poll
)

// hidden contains the size of the texts and the different words in an open poll's ballots. A node
// with the secret uses it to enforce the poll's bounds. Views and snapshots do not contain it.
type hidden struct {
	texts int // bytes
	words map[string]bool
}

// ballotSize returns the length of every ballot before it is sealed: the length of the longest
// possible ballot.
func ballotSize(kind pb.PollKind) int {
	const widest = 4 // bytes of a code point
	switch kind {
	case pollWords:
		return maxVoteWords * (2 + widest*maxVoteWord)
	case pollText:
		return 2 + widest*maxVoteText
	}
	return 2
}

// plainBallot encodes a vote, padded to the length of all ballots.
func plainBallot(kind pb.PollKind, e *pb.PollVoted) []byte {
	b := make([]byte, 0, ballotSize(kind))
	put := func(text string) {
		b = binary.BigEndian.AppendUint16(b, uint16(len(text)))
		b = append(b, text...)
	}
	switch kind {
	case pollWords:
		for _, w := range e.Words {
			put(w)
		}
	case pollText:
		put(e.Text)
	default:
		b = binary.BigEndian.AppendUint16(b, uint16(e.Marks))
	}
	return b[:cap(b)]
}

// readBallot is the inverse of plainBallot.
func readBallot(kind pb.PollKind, b []byte) *pb.PollVoted {
	e := &pb.PollVoted{Marks: 1}
	if kind != pollWords && kind != pollText {
		e.Marks = uint32(binary.BigEndian.Uint16(b))
		return e
	}
	for len(b) >= 2 {
		n := int(binary.BigEndian.Uint16(b))
		if b = b[2:]; n == 0 || n > len(b) {
			break
		}
		if kind == pollText {
			e.Text = string(b[:n])
			break
		}
		e.Words, b = append(e.Words, string(b[:n])), b[n:]
	}
	return e
}

func ballotCipher(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic("the secret of a poll is not a key: " + err.Error())
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // cannot happen with AES
	}
	return aead
}

// ballotOf returns the poll and round of a ballot, to which its seal is bound.
func ballotOf(p *pb.Poll) []byte {
	return binary.BigEndian.AppendUint32([]byte(p.Id), uint32(p.Round))
}

// seal returns the event of a vote in an anonymous poll.
func (s *State) seal(p *poll, e *pb.PollVoted) (*pb.PollVoted, error) {
	key := s.rules.ballotKey(p.rec.Secret)
	if key == nil {
		return nil, durable.ErrUnavailable
	}
	plain := plainBallot(p.rec.Kind, e)
	defer clear(plain)
	aead := ballotCipher(key)
	sealed := aead.NonceSize() + len(plain) + aead.Overhead()
	if (len(p.ballots)+1)*sealed > maxBallots || p.hidden.texts+len(e.Text) > maxPollTexts {
		return nil, errPollFull
	}
	fresh := 0
	for _, w := range e.Words {
		if !p.hidden.words[wordKey(w)] {
			fresh++
		}
	}
	if len(p.hidden.words)+fresh > maxPollKeys {
		return nil, errPollFull
	}
	nonce := make([]byte, aead.NonceSize(), sealed)
	_, _ = rand.Read(nonce) // rand.Read never fails
	return &pb.PollVoted{PollId: e.PollId, AttendeeId: e.AttendeeId, Ballot: aead.Seal(nonce, nonce, plain, ballotOf(p.rec))}, nil
}

var errBallot = errors.New("a ballot is damaged")

// openBallot decrypts a ballot.
func (s *State) openBallot(p *pb.Poll, ballot []byte) (*pb.PollVoted, error) {
	key := s.rules.ballotKey(p.Secret)
	if key == nil {
		return nil, durable.ErrUnavailable
	}
	aead := ballotCipher(key)
	if len(ballot) < aead.NonceSize() {
		return nil, errBallot
	}
	plain, err := aead.Open(nil, ballot[:aead.NonceSize()], ballot[aead.NonceSize():], ballotOf(p))
	if err != nil || len(plain) != ballotSize(p.Kind) {
		return nil, errBallot
	}
	defer clear(plain)
	return readBallot(p.Kind, plain), nil
}

// addToBounds opens a ballot and counts its words or text towards the poll's bounds. It does
// nothing if the ballot cannot be opened, for example without the secret.
func (s *State) addToBounds(p *poll, ballot []byte) {
	if p.rec.Kind != pollWords && p.rec.Kind != pollText {
		return
	}
	e, err := s.openBallot(p.rec, ballot)
	if err != nil {
		return
	}
	p.hidden.texts += len(e.Text)
	for _, w := range e.Words {
		if p.hidden.words == nil {
			p.hidden.words = map[string]bool{}
		}
		p.hidden.words[wordKey(w)] = true
	}
}

// secretLost reports whether an anonymous poll can never be counted.
func (r *Rules) secretLost(p *pb.Poll) bool {
	return p.Anonymous && r.ballotKey(p.Secret) == nil && r.nobodyHas(p)
}

// secretAwaited reports whether an anonymous poll cannot be counted now, but another node may still
// have the secret.
func (r *Rules) secretAwaited(p *pb.Poll) bool {
	return p.Anonymous && r.ballotKey(p.Secret) == nil && !r.nobodyHas(p)
}

func (r *Rules) nobodyHas(p *pb.Poll) bool {
	return p.Secret == "" || r.BallotLost == nil || r.BallotLost(p.Secret, p.Keepers)
}

// countBallots writes the result of an anonymous poll to out. If a ballot cannot be opened, out
// becomes void instead. With fewer than fewestVotes ballots, out contains only their number.
func (s *State) countBallots(p *poll, out *pb.Poll) {
	forgetSecret(out)
	out.Votes = int32(len(p.ballots))
	votes := make([]*pb.PollVoted, 0, len(p.ballots))
	for _, b := range p.ballots {
		e, err := s.openBallot(p.rec, b)
		if err != nil {
			out.Void = true
			return
		}
		votes = append(votes, e)
	}
	if len(votes) < fewestVotes {
		out.TooFew = true
		return
	}
	out.Counts = make([]int32, optionCount(out))
	var words tally
	for _, e := range votes {
		for i := range out.Counts {
			if e.Marks&(1<<i) != 0 {
				out.Counts[i]++
			}
		}
		for _, w := range e.Words {
			words.add(w, +1)
		}
		if e.Text != "" {
			out.Texts = append(out.Texts, e.Text)
		}
	}
	if len(out.Counts) == 0 {
		out.Counts = nil
	}
	out.Words = words.best()
	shuffle(out.Texts)
}

// shuffle puts texts into an unpredictable order.
func shuffle(texts []string) {
	for i := len(texts) - 1; i > 0; i-- {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(i+1)))
		if err != nil {
			panic(err) // rand.Int never fails
		}
		j := int(n.Int64())
		texts[i], texts[j] = texts[j], texts[i]
	}
}

// optionCount returns the number of counts in a poll's result.
func optionCount(p *pb.Poll) int {
	switch p.Kind {
	case pollChoice, pollSeveral:
		return len(p.Options)
	case pollScale:
		return scaleSteps
	}
	return 0
}
