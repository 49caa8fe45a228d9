package nodes

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"atelier/actors/durable"
	"atelier/persistence/shares"
)

// Exchange brings secrets that lie in no database, where they would outlive their
// destruction, to all nodes: the shares of token keys, since any node must serve any
// token, and the secrets of anonymous polls. What nodes tell each other is sealed under
// the cluster's secret.
type Exchange[S any] struct {
	node    *Node
	aead    cipher.AEAD
	subject string // where nodes serve them
	what    string // in errors
	kept    Kept[S]
	stop    func()
}

// Kept is where a node keeps what others bring.
type Kept[S any] interface {
	// Take keeps one of another node; it is on the disk when Take returns.
	Take(S) error
	// All returns those in use.
	All() ([]S, error)
}

// findable is a Kept of which one can be asked for by its id.
type findable[S any] interface {
	Find(id string) (S, bool)
}

// exchanged is a message between nodes: it asks for all that the node keeps, or for one, or
// says which to keep.
type exchanged[S any] struct {
	All    bool   `json:"all,omitempty"`
	Find   string `json:"find,omitempty"`
	Shares []S    `json:"shares,omitempty"`
}

// NewShareExchange is that of the shares of token keys.
func NewShareExchange(n *Node, secret string) (*Exchange[shares.Share], error) {
	return newExchange[shares.Share](n, secret, "shares", "shares of token keys")
}

// NewBallotExchange is that of the secrets of anonymous polls.
func NewBallotExchange(n *Node, secret string) (*Exchange[shares.Ballot], error) {
	return newExchange[shares.Ballot](n, secret, "ballots", "secrets of polls")
}

// newKeyExchange brings word of a change of the token keys to all nodes: the version that
// the Keyring has of them. Each reads them there.
func newKeyExchange(n *Node, secret string) (*Exchange[uint64], error) {
	return newExchange[uint64](n, secret, "keys", "token keys")
}

func newExchange[S any](n *Node, secret, subject, what string) (*Exchange[S], error) {
	key := sha256.Sum256([]byte("atelier " + subject + " between nodes\x00" + secret))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return &Exchange[S]{node: n, aead: aead, subject: subject, what: what}, err
}

func (x *Exchange[S]) seal(m exchanged[S]) []byte {
	plain, _ := json.Marshal(m) // of texts and bytes
	defer clear(plain)
	nonce := make([]byte, x.aead.NonceSize(), x.aead.NonceSize()+len(plain)+x.aead.Overhead())
	_, _ = rand.Read(nonce) // never fails
	return x.aead.Seal(nonce, nonce, plain, nil)
}

func (x *Exchange[S]) open(b []byte) (m exchanged[S], err error) {
	if len(b) < x.aead.NonceSize() {
		return m, fmt.Errorf("a message about %s is cut off", x.what)
	}
	plain, err := x.aead.Open(nil, b[:x.aead.NonceSize()], b[x.aead.NonceSize():], nil)
	if err != nil {
		return m, fmt.Errorf("a message about %s is not from a node of this cluster", x.what)
	}
	defer clear(plain)
	return m, json.Unmarshal(plain, &m)
}

// Begin serves the other nodes, and fetches what this one lacks, now and whenever it
// comes back.
func (x *Exchange[S]) Begin(kept Kept[S]) error {
	if err := x.Serve(kept); err != nil {
		return err
	}
	x.node.catchUps = append(x.node.catchUps, x.catchUp)
	return x.fetch(fetchTime)
}

// Serve serves the other nodes.
func (x *Exchange[S]) Serve(kept Kept[S]) (err error) {
	x.kept = kept
	x.stop, err = x.node.Bus.Serve(x.subject, func(from string, data []byte, answer func([]byte)) {
		go func() { // it waits for the disk
			m, err := x.serve(data)
			if err != nil {
				x.node.log.Error(x.what+" for another node", "from", from, "error", err)
				return // and the other node asks again
			}
			answer(x.seal(m))
		}()
	})
	return err
}

// fetch asks the other nodes for all that they keep.
func (x *Exchange[S]) fetch(limit time.Duration) error {
	_, err := x.everywhere(limit, exchanged[S]{All: true}, func(m exchanged[S]) error { return x.keep(m.Shares) })
	return err
}

// catchUp fetches what was made while this node was away: it lives again, so whatever is
// made from now on is brought to it. It goes on until all nodes have answered, ctx ends,
// or this node is away again.
func (x *Exchange[S]) catchUp(ctx context.Context, returns int64) {
	for ctx.Err() == nil && x.node.returns.Load() == returns {
		err := x.fetch(0)
		if err == nil {
			return
		}
		x.node.log.Warn("fetching the "+x.what+" of other nodes failed; it is tried again", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(askTime):
		}
	}
}

func (x *Exchange[S]) serve(data []byte) (m exchanged[S], err error) {
	in, err := x.open(data)
	if err != nil {
		return m, err
	}
	if in.All {
		m.Shares, err = x.kept.All()
		return m, err
	}
	if in.Find != "" {
		if kept, ok := x.kept.(findable[S]); ok {
			if s, found := kept.Find(in.Find); found {
				m.Shares = []S{s}
			}
		}
		return m, nil
	}
	return m, x.keep(in.Shares)
}

func (x *Exchange[S]) keep(all []S) error {
	for _, s := range all {
		if err := x.kept.Take(s); err != nil {
			return err
		}
	}
	return nil
}

const (
	// fetchTime bounds how long a start waits for the secrets of other nodes,
	// spreadTime how long the first use of a new one waits for them.
	fetchTime, spreadTime = 30 * time.Second, 5 * time.Second
	askTime               = time.Second
)

// Spread brings a secret that this node has made to all that live. Nothing is sealed
// under it before.
func (x *Exchange[S]) Spread(s S) error {
	_, err := x.bring(s)
	return err
}

// bring is Spread, and says which nodes have it now.
func (x *Exchange[S]) bring(s S) (done []string, err error) {
	return x.everywhere(spreadTime, exchanged[S]{Shares: []S{s}}, func(exchanged[S]) error { return nil })
}

// SpreadTwice is Spread for what must outlive this node: where there are other nodes, one
// of them at least has it when SpreadTwice returns. keepers are all that have, with this
// one.
func (x *Exchange[S]) SpreadTwice(s S) (keepers []string, err error) {
	done, err := x.bring(s)
	if err != nil {
		return nil, err
	}
	members, err := x.node.Store.Members()
	if err != nil {
		return nil, err
	}
	if len(done) == 0 && slices.ContainsFunc(members, func(o durable.Member) bool { return o.Node != x.node.Store.Node() }) {
		return nil, fmt.Errorf("%w: no other node is alive to keep the %s", durable.ErrUnavailable, x.what)
	}
	return append(done, x.node.Store.Node()), nil
}

// everywhere asks each living node until it has answered, or lives no more, and says which
// have answered.
func (x *Exchange[S]) everywhere(limit time.Duration, m exchanged[S], take func(exchanged[S]) error) (done []string, _ error) {
	for until := time.Now().Add(limit); ; {
		members, err := x.node.Store.Members()
		if err != nil {
			return nil, err
		}
		missing := ""
		for _, o := range members {
			if o.Left <= 0 || o.Node == x.node.Store.Node() || slices.Contains(done, o.Node) {
				continue
			}
			answer, err := x.ask(o.Node, m)
			if err == nil {
				err = take(answer)
			}
			if err != nil {
				missing = o.Node
				continue
			}
			done = append(done, o.Node)
		}
		if missing == "" {
			return done, nil
		}
		if time.Now().After(until) {
			return nil, fmt.Errorf("%w: node %s, which is alive, does not answer about the %s", durable.ErrUnavailable, missing, x.what)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (x *Exchange[S]) ask(node string, m exchanged[S]) (exchanged[S], error) {
	type outcome struct {
		data []byte
		err  error
	}
	got := make(chan outcome, 1)
	x.node.Bus.Request(node, x.subject, x.seal(m), askTime, func(data []byte, err error) { got <- outcome{data, err} })
	o := <-got
	if o.err != nil {
		return exchanged[S]{}, o.err
	}
	return x.open(o.data)
}

// End serves no more.
func (x *Exchange[S]) End() {
	if x != nil && x.stop != nil {
		x.stop()
	}
}
