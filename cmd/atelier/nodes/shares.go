package nodes

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"atelier/actors/durable"
	"atelier/persistence/shares"
)

// shareMessage is what nodes tell each other of the shares of token keys,
// sealed under the cluster's secret.
type shareMessage struct {
	// All asks for the shares of the node. Else Shares are to be kept.
	All    bool           `json:"all,omitempty"`
	Shares []shares.Share `json:"shares,omitempty"`
}

// shareSubject is where nodes serve them.
const shareSubject = "shares"

// ShareExchange brings the shares of token keys to all nodes: any node must
// serve any token. A share lies in no database, where it would outlive its
// destruction.
type ShareExchange struct {
	node  *Node
	aead  cipher.AEAD
	store *shares.Store // set before anybody is served
	stop  func()
}

func NewShareExchange(n *Node, secret string) (*ShareExchange, error) {
	key := sha256.Sum256([]byte("atelier shares between nodes\x00" + secret))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return &ShareExchange{node: n, aead: aead}, err
}

func (x *ShareExchange) seal(m shareMessage) []byte {
	plain, _ := json.Marshal(m) // of texts and bytes
	defer clear(plain)
	nonce := make([]byte, x.aead.NonceSize(), x.aead.NonceSize()+len(plain)+x.aead.Overhead())
	_, _ = rand.Read(nonce) // never fails
	return x.aead.Seal(nonce, nonce, plain, nil)
}

func (x *ShareExchange) open(b []byte) (m shareMessage, err error) {
	if len(b) < x.aead.NonceSize() {
		return m, errors.New("a message about shares is cut off")
	}
	plain, err := x.aead.Open(nil, b[:x.aead.NonceSize()], b[x.aead.NonceSize():], nil)
	if err != nil {
		return m, errors.New("a message about shares is not from a node of this cluster")
	}
	defer clear(plain)
	return m, json.Unmarshal(plain, &m)
}

// Begin serves the other nodes, and fetches what this one lacks.
func (x *ShareExchange) Begin(store *shares.Store) (err error) {
	x.store = store
	x.stop, err = x.node.Bus.Serve(shareSubject, func(from string, data []byte, answer func([]byte)) {
		go func() { // it waits for the disk
			m, err := x.serve(data)
			if err != nil {
				x.node.log.Error("shares of token keys for another node", "from", from, "error", err)
				return // and the other node asks again
			}
			answer(x.seal(m))
		}()
	})
	if err != nil {
		return err
	}
	return x.fetch()
}

func (x *ShareExchange) serve(data []byte) (m shareMessage, err error) {
	in, err := x.open(data)
	if err != nil {
		return m, err
	}
	if in.All {
		m.Shares, err = x.store.All()
		return m, err
	}
	return m, x.keep(in.Shares)
}

func (x *ShareExchange) keep(all []shares.Share) error {
	for i := range all {
		if err := x.store.Take(all[i]); err != nil {
			return err
		}
		clear(all[i].Secret)
	}
	return nil
}

const (
	// fetchTime bounds how long a start waits for the shares of other nodes,
	// spreadTime how long the first token under a new share waits for them.
	fetchTime, spreadTime = 30 * time.Second, 5 * time.Second
	askTime               = time.Second
)

// fetch asks every living node for its shares.
func (x *ShareExchange) fetch() error {
	return x.everywhere(fetchTime, shareMessage{All: true}, func(m shareMessage) error { return x.keep(m.Shares) })
}

// Spread brings a share that this node has made to all that live. Nothing is
// sealed under it before.
func (x *ShareExchange) Spread(s shares.Share) error {
	return x.everywhere(spreadTime, shareMessage{Shares: []shares.Share{s}}, func(shareMessage) error { return nil })
}

// everywhere asks each living node until it has answered, or lives no more.
func (x *ShareExchange) everywhere(limit time.Duration, m shareMessage, take func(shareMessage) error) error {
	var done []string
	for until := time.Now().Add(limit); ; {
		members, err := x.node.Store.Members()
		if err != nil {
			return err
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
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("%w: node %s, which is alive, does not answer about the shares of token keys", durable.ErrUnavailable, missing)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (x *ShareExchange) ask(node string, m shareMessage) (shareMessage, error) {
	type outcome struct {
		data []byte
		err  error
	}
	got := make(chan outcome, 1)
	x.node.Bus.Request(node, shareSubject, x.seal(m), askTime, func(data []byte, err error) { got <- outcome{data, err} })
	o := <-got
	if o.err != nil {
		return shareMessage{}, o.err
	}
	return x.open(o.data)
}

// End serves no more.
func (x *ShareExchange) End() {
	if x != nil && x.stop != nil {
		x.stop()
	}
}
