package durable

import (
	"errors"
	"sync/atomic"
	"time"
)

// Bus carries messages between the nodes of a cluster. A message can be lost, but it never arrives
// twice, modified, or before an earlier message with the same sender and subject. The store
// contains all data that must not be lost. Safe for concurrent use.
//
// Subjects are words of letters, digits, "_" and "-", joined by dots. Callbacks run on the bus's
// goroutines and must not block. They can keep the data that they receive.
type Bus interface {
	// Request sends a request to a node. done is called once with the answer or an error. ErrNobody
	// means that the node did not receive the request, because it does not exist or does not serve
	// the subject. ErrTimeout means that no answer arrived in time.
	Request(node, subject string, data []byte, timeout time.Duration, done func(answer []byte, err error))

	// Serve answers requests to this node. fn can call answer later and from any goroutine, but at
	// most once.
	Serve(subject string, fn func(from string, data []byte, answer func([]byte))) (stop func(), err error)

	// Publish sends a message to the other nodes that listen to the subject.
	Publish(subject string, data []byte) error

	// Listen calls fn for the messages that other nodes publish, in order.
	Listen(subject string, fn func(from string, data []byte)) (stop func(), err error)
}

// MaxMessage bounds a message on a Bus, in bytes. Larger requests fail with ErrNobody.
const MaxMessage = 64 << 20

// ErrNobody means that no node received the message, for example because the recipient is not
// reachable.
var ErrNobody = errors.New("bus: no node received the message")

// Cluster distributes the ownership of actors over several nodes. All hosts of a process share one
// Cluster.
type Cluster struct {
	Store Shared
	Bus   Bus
	// Beat is the interval at which owners send their position to followers, and followers check
	// that it arrives. The default is 250 ms.
	Beat time.Duration
	// OwnerTimeout bounds how long a follower waits for its owner before it looks up the owner in
	// the store. The default is 1 s. A read waits for the owner at most three times OwnerTimeout.
	OwnerTimeout time.Duration
	// MaxReplicated bounds the records of a batch that is replicated directly, in bytes. The
	// default is 512 KiB. For a larger batch, followers receive no records and read the log.
	MaxReplicated int
	// Aside is set while this node leaves all actors to other nodes. While it is set, Get fails.
	Aside atomic.Bool
}

func (c *Cluster) setDefaults() {
	if c.Beat == 0 {
		c.Beat = 250 * time.Millisecond
	}
	if c.OwnerTimeout == 0 {
		c.OwnerTimeout = time.Second
	}
	if c.MaxReplicated == 0 {
		c.MaxReplicated = 512 << 10
	}
}
