package nodes

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"atelier/actors/codelab"
	"atelier/actors/durable"
	"atelier/persistence/shares"
)

// Exchange distributes secrets to all nodes without using the database, where they would outlive
// their destruction. It distributes the shares of token keys, because any node must serve any
// token, and the secrets of anonymous polls. Another Exchange only announces changes of the token
// keys. Messages between nodes are sealed under the cluster secret.
type Exchange[S any] struct {
	node    *Node
	aead    cipher.AEAD
	subject string // on which nodes serve the secrets
	what    string // the name of the secrets in errors
	kept    Kept[S]
	stop    func()

	serving sync.RWMutex // held for reading while this node responds to another
	ended   bool         // guarded by serving

	// lacking counts how often this node has begun to lack secrets that other nodes can have. whole
	// is the value of lacking when this node last fetched all secrets.
	lacking, whole atomic.Int64
	catching       atomic.Bool  // catchUp is in progress
	warned         atomic.Int64 // the value of lacking for which a warning is logged
	// lasts is the maximum lifetime of the exchanged secrets. 0 means no limit. When this time has
	// passed since the node began to lack secrets, it no longer lacks any. Older secrets have
	// expired, and newer ones were sent to it.
	lasts time.Duration
	since atomic.Int64 // when this node began to lack secrets, on the clock of began
	// missing is a node that is down and can have secrets that this node lacks, or "".
	missing atomic.Value
}

// began is the zero of the clock of Exchange.since. It is monotonic.
var began = time.Now()

// Kept is a node's store of the exchanged secrets.
type Kept[S any] interface {
	// Take stores a secret from another node. The secret is on disk when Take returns, unless it is
	// no longer needed.
	Take(S) error
	// All returns the secrets in use.
	All() ([]S, error)
}

// findable is a Kept that finds a secret by its id.
type findable[S any] interface {
	Find(id string) (S, bool)
}

// judge is a Kept that reports which secrets are no longer needed.
type judge interface {
	// Needless returns the ids of secrets that are no longer needed, according to this node's data.
	Needless(ids []string) []string
}

// exchanged is a message between nodes. It requests all secrets, or one secret, or asks which
// secrets are needless, or contains secrets to store.
type exchanged[S any] struct {
	All    bool     `json:"all,omitempty"`
	Find   string   `json:"find,omitempty"`
	Judge  []string `json:"judge,omitempty"`
	Shares []S      `json:"shares,omitempty"`
	// Needless is the response to Judge.
	Needless []string `json:"needless,omitempty"`
	// Lacks, in a response to All, means that other nodes can have secrets that are missing in the
	// response.
	Lacks bool `json:"lacks,omitempty"`
	// Unkept is the response to secrets that a node could not store, because it cannot write its
	// disk. That node records that it lacks secrets, and fetches them later.
	Unkept bool `json:"unkept,omitempty"`
}

// NewShareExchange returns the exchange of the shares of token keys. lasts is their maximum
// lifetime.
func NewShareExchange(n *Node, secret string, lasts time.Duration) (*Exchange[shares.Share], error) {
	x, err := newExchange[shares.Share](n, secret, "shares", "shares of token keys")
	if err == nil {
		x.lasts = lasts
	}
	return x, err
}

// NewBallotExchange returns the exchange of the secrets of anonymous polls.
func NewBallotExchange(n *Node, secret string) (*Exchange[shares.Ballot], error) {
	return newExchange[shares.Ballot](n, secret, "ballots", "secrets of polls")
}

// newKeyExchange returns an exchange that notifies all nodes of a change of the token keys. It
// sends their version in the Keyring. Each node reads the keys from there.
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
	plain, _ := json.Marshal(m) // texts and bytes never fail
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

// Begin serves the other nodes. It fetches missing secrets now, whenever this node rejoins the
// others, and whenever its folder becomes writable again. If secrets stay missing because the
// folder is not writable or a node is down, Begin logs a warning and returns nil.
func (x *Exchange[S]) Begin(kept Kept[S]) error {
	if err := x.Serve(kept); err != nil {
		return err
	}
	x.node.catchUps = append(x.node.catchUps, x)
	x.node.folder.OnMend(func(context.Context) error {
		err := x.fetch(0)
		if errors.Is(err, errNotWhole) {
			return nil // all living nodes were asked
		}
		return err
	})
	x.lack()
	err := x.fetch(fetchTime)
	if err != nil && (x.node.folder.Trouble() != nil || errors.Is(err, errNotWhole)) {
		x.warn(err)
		return nil
	}
	return err
}

// errNotWhole means that a node that is down can have secrets that no living node has.
var errNotWhole = fmt.Errorf("%w: a node that is down can have others", durable.ErrUnavailable)

// warn logs why this node still lacks secrets. It logs once each time the node begins to lack
// secrets.
func (x *Exchange[S]) warn(err error) {
	if now := x.lacking.Load(); x.warned.Swap(now) != now {
		x.node.log.Warn("this node may lack "+x.what+" that other nodes have; it keeps asking for them", "error", err)
	}
}

// lack records that other nodes can have secrets that this node lacks.
func (x *Exchange[S]) lack() {
	x.since.Store(int64(time.Since(began))) // before the count, so that nobody uses the new count with the earlier time
	x.lacking.Add(1)
}

// outlived reports whether the missing secrets have expired.
func (x *Exchange[S]) outlived() bool {
	return x.lasts > 0 && time.Since(began)-time.Duration(x.since.Load()) > x.lasts
}

// missingNode returns the node that would provide the missing secrets if it started, or "" for
// none.
func (x *Exchange[S]) missingNode() string {
	name, _ := x.missing.Load().(string)
	return name
}

// Lacking describes the secrets that this node can lack, and the node to start. It returns "" if
// nothing is missing, or if no node is known whose start would help.
func (x *Exchange[S]) Lacking() string {
	name := x.missingNode()
	if name == "" || !x.Lacks() {
		return ""
	}
	return fmt.Sprintf("this node may lack %s that only node %s has: start %s, or if it is gone for good: atelier cluster forget %s", x.what, name, name, name)
}

// Lacks reports whether other nodes can have secrets that this node lacks. If so, a missing secret
// can still be in use.
func (x *Exchange[S]) Lacks() bool { return x.whole.Load() != x.lacking.Load() }

// Serve serves the other nodes.
func (x *Exchange[S]) Serve(kept Kept[S]) (err error) {
	x.kept = kept
	x.stop, err = x.node.Bus.Serve(x.subject, func(from string, data []byte, answer func([]byte)) {
		go func() { // because it waits for the disk
			x.serving.RLock()
			defer x.serving.RUnlock()
			if x.ended {
				return
			}
			m, err := x.serve(data)
			if err != nil {
				x.node.log.Error("answering another node about "+x.what+" failed", "from", from, "error", err)
				return // the other node repeats the request
			}
			answer(x.seal(m))
		}()
	})
	return err
}

// fetch requests all secrets from the other living nodes. If it returns nil, this node lacks
// nothing: a complete node or every known node has responded, or the missing secrets have expired.
func (x *Exchange[S]) fetch(limit time.Duration) error {
	lacking := x.lacking.Load()
	whole := false
	done, err := x.everywhere(limit, exchanged[S]{All: true}, func(m exchanged[S]) error {
		err := x.keep(m.Shares)
		whole = whole || err == nil && !m.Lacks
		return err
	})
	if err == nil && !whole && !x.outlived() {
		err = x.allAnswered(done)
	}
	if err == nil {
		x.whole.Store(lacking)
	}
	return err
}

// allAnswered returns errNotWhole if a known node is not in done.
func (x *Exchange[S]) allAnswered(done []string) error {
	known, err := x.node.Store.Known()
	if err != nil {
		return err
	}
	for _, name := range known {
		if name != x.node.Store.Node() && !slices.Contains(done, name) {
			x.missing.Store(name)
			return fmt.Errorf("%w: start %s, or forget it if it is gone for good", errNotWhole, name)
		}
	}
	return nil
}

// alone returns an error unless all other members were stopped in order. Spread calls it if no
// other node has stored a secret.
func (x *Exchange[S]) alone() error {
	members, err := x.node.Store.Members()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(members, func(o durable.Member) bool { return o.Node != x.node.Store.Node() && !o.Stopped }) {
		return fmt.Errorf("%w: no other node keeps the %s now", codelab.ErrTooFewKeepers, x.what)
	}
	return nil
}

// catchUp fetches missing secrets until none is missing, ctx ends, this node is away, or its folder
// is not writable. When the folder is writable again, the function of Begin fetches them.
func (x *Exchange[S]) catchUp(ctx context.Context) {
	if !x.catching.CompareAndSwap(false, true) {
		return
	}
	defer x.catching.Store(false)
	for ctx.Err() == nil && x.Lacks() && !x.node.away.Load() && x.node.folder.Trouble() == nil {
		err := x.fetch(0)
		if err == nil {
			return
		}
		x.warn(err)
		pause := askTime
		if errors.Is(err, errNotWhole) {
			pause = absentTime
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (x *Exchange[S]) serve(data []byte) (m exchanged[S], err error) {
	in, err := x.open(data)
	if err != nil {
		return m, err
	}
	if in.All {
		m.Lacks = x.Lacks() // read before missing secrets could arrive
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
	if kept, ok := x.kept.(judge); ok && len(in.Judge) > 0 {
		m.Needless = kept.Needless(in.Judge)
		return m, nil
	}
	err = x.keep(in.Shares)
	if errors.Is(err, durable.ErrReadOnly) {
		x.lack() // before the response, because the other node relies on this
		x.node.log.Error("storing "+x.what+" of another node failed", "error", err)
		return exchanged[S]{Unkept: true}, nil
	}
	return m, err
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
	// fetchTime is the maximum time that a start waits for the secrets of other nodes. spreadTime
	// is the maximum time that the first use of a new secret waits for other nodes.
	fetchTime, spreadTime = 30 * time.Second, 5 * time.Second
	askTime               = time.Second
	// absentTime is the interval at which all secrets are fetched again while a node that can have
	// others is down. This can last for days, and each time the other nodes read their secrets from
	// disk.
	absentTime = 5 * time.Second
)

// Spread sends a new secret of this node to all living nodes that can store it. Callers seal
// nothing under the secret before Spread returns. Unless all other members were stopped in order,
// at least one of them then has the secret, so that it outlives this node. keepers are all nodes
// that have the secret, including this one.
func (x *Exchange[S]) Spread(s S) (keepers []string, err error) {
	done, err := x.bring(s)
	if err == nil && len(done) == 0 {
		err = x.alone()
	}
	if err != nil {
		return nil, err
	}
	return append(done, x.node.Store.Node()), nil
}

// bring sends a secret to all living nodes that can store it, and returns the nodes that have it.
func (x *Exchange[S]) bring(s S) (done []string, err error) {
	return x.everywhere(spreadTime, exchanged[S]{Shares: []S{s}}, func(m exchanged[S]) error {
		if m.Unkept {
			return errUnkept
		}
		return nil
	})
}

// errUnkept means that a node has responded, but does not count as a keeper.
var errUnkept = errors.New("this node cannot write its disk")

// Needless asks the other living nodes which of some secrets are no longer needed. A node that does
// not serve cannot determine this itself.
func (x *Exchange[S]) Needless(ids []string) (needless []string) {
	members, err := x.node.Store.Members()
	if err != nil {
		return nil
	}
	for _, o := range members {
		if o.Left > 0 && o.Node != x.node.Store.Node() {
			if answer, err := x.ask(o.Node, exchanged[S]{Judge: ids}); err == nil {
				needless = append(needless, answer.Needless...)
			}
		}
	}
	return needless
}

// everywhere sends a message to each living node until the node has responded or died. It returns
// the nodes that have responded, except those for which take returned errUnkept. It fails if a
// living node has not responded within limit.
func (x *Exchange[S]) everywhere(limit time.Duration, m exchanged[S], take func(exchanged[S]) error) (done []string, _ error) {
	var unkept []string
	for until := time.Now().Add(limit); ; {
		members, err := x.node.Store.Members()
		if err != nil {
			return nil, err
		}
		missing := ""
		for _, o := range members {
			if o.Left <= 0 || o.Node == x.node.Store.Node() || slices.Contains(done, o.Node) || slices.Contains(unkept, o.Node) {
				continue
			}
			answer, err := x.ask(o.Node, m)
			if err == nil {
				err = take(answer)
			}
			switch {
			case errors.Is(err, errUnkept):
				unkept = append(unkept, o.Node)
			case err != nil:
				missing = o.Node
			default:
				done = append(done, o.Node)
			}
		}
		if missing == "" {
			return done, nil
		}
		if time.Now().After(until) {
			return nil, fmt.Errorf("%w: node %s is alive, but does not answer requests about the %s", durable.ErrUnavailable, missing, x.what)
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

// End stops serving. Once it has returned, the secrets can be wiped, because no response uses them
// any more.
func (x *Exchange[S]) End() {
	if x != nil && x.stop != nil {
		x.stop()
		x.serving.Lock()
		defer x.serving.Unlock()
		x.ended = true
	}
}
