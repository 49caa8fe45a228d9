package durable

import (
	"github.com/asynkron/protoactor-go/actor"
)

// followedFor is the number of beats after which a follower that has not renewed its subscription
// is dropped.
const followedFor = 16

// between handles the subscriptions of other nodes, the beats, and reads on this node.
func (s *actorRuntime[C, E, V]) between(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case beat:
		s.beat()
	case followed:
		if s.followers == nil {
			s.followers = map[string]int{}
		}
		s.followers[m.from] = followedFor
		s.handle.followed.Store(true)
		if !s.host.opts.Cluster.Store.Holds() {
			m.answer(elsewhere)
			break
		}
		m.answer(answer{kind: answerDone, seq: s.committed, body: encodeChain(s.agreed)}.encode())
	case unfollowed:
		delete(s.followers, m.from)
	case readHere:
		s.answer(m.to, Reply{Seq: s.committed})
	}
}

// beat sends the followers the position of the actor and the hash of its log.
func (s *actorRuntime[C, E, V]) beat() {
	for node, left := range s.followers {
		if left <= 1 {
			delete(s.followers, node)
			continue
		}
		s.followers[node] = left - 1
	}
	s.replicateAll(replication{kind: kindBeat, seq: s.committed, chain: s.agreed})
}

// replicateBatch sends a committed batch to the followers. A follower that misses a batch notices
// the gap in the seqs and reads the log. If a batch is too large for a message, followers read its
// records from the log. The message then contains only the sessions that caused the records,
// because the log does not contain these.
func (s *actorRuntime[C, E, V]) replicateBatch(b *batch[E, V]) {
	if len(s.followers) == 0 || len(b.events) == 0 {
		return
	}
	t := replication{kind: kindNews, seq: s.committed, chain: s.agreed}
	if len(b.records) <= s.host.opts.Cluster.MaxReplicated {
		t = replication{kind: kindBatch, seq: b.first, chain: b.chain, records: b.records}
	}
	t.origins = make([]uint64, len(b.events))
	for i := range b.events {
		t.origins[i] = b.events[i].Origin
	}
	s.replicateAll(t)
}

func (s *actorRuntime[C, E, V]) replicateAll(t replication) {
	if len(s.followers) > 0 {
		_ = s.host.opts.Cluster.Bus.Publish(s.handle.subject(), t.encode()) // followers read a lost batch from the log
	}
}

// remoteReplier answers another node's command.
type remoteReplier[C any] struct {
	cmd    C
	codec  *Codec[C]
	answer func([]byte)
}

// Reply implements Replier.
func (r *remoteReplier[C]) Reply(reply Reply) {
	if reply.Err != nil {
		r.answer(answer{kind: answerRefused, body: encodeRefusal(reply.Err)}.encode())
		return
	}
	value, err := r.codec.EncodeReply(r.cmd, reply.Value)
	if err != nil { // the command was executed, but its reply cannot be encoded
		r.answer(answer{kind: answerRefused, body: encodeRefusal(ErrUnavailable)}.encode())
		return
	}
	r.answer(answer{answerDone, reply.Seq, value}.encode())
}
