package ai

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"atelier/actors/durable"
	"atelier/transport/ai/keys"
	"atelier/transport/ai/upstream"
	"atelier/transport/auth"
	"atelier/transport/httpapi"
	"atelier/transport/wire"
)

// answer is an answer in progress. One goroutine serves it; other goroutines call only the methods
// of auth.Holder.
type answer struct {
	s       *Service
	key     keys.Key
	query   *upstream.Query
	person  string
	codelab string // "" without a codelab
	admin   string
	// standing is the caller's session or token. When the session or token ends, cancel ends the
	// answer.
	standing auth.Standing
	cancel   context.CancelCauseFunc

	usage  upstream.Usage
	failed int64 // 1 if the answer is incomplete
	// blocked is set when the upstream blocks the question or the answer.
	blocked bool
}

// event is the data of a server-sent event with a piece of the answer.
type event struct {
	Candidates []candidate     `json:"candidates"`
	Usage      *upstream.Usage `json:"usageMetadata,omitempty"`
	// Model is the model that answers, which can differ from the requested model.
	Model string `json:"modelVersion"`
}

type candidate struct {
	Content      content `json:"content"`
	FinishReason string  `json:"finishReason,omitempty"`
	Grounding    any     `json:"groundingMetadata,omitempty"`
}

type content struct {
	Role  string          `json:"role"`
	Parts []upstream.Part `json:"parts"`
}

var heartbeat = []byte(": still here\n\n")

// serve asks the upstream and forwards its answer. It returns when the answer has ended. An answer
// ends early if the client disconnects, the caller's grant ends, or the server stops.
func (a *answer) serve(d *httpapi.Detached) {
	began := time.Now()
	ctx, cancel := context.WithCancelCause(a.s.Answers.base)
	defer cancel(nil)
	a.cancel = cancel
	if err := a.begin(); err != nil {
		_ = d.Fail(err)
		return
	}
	defer a.s.Answers.ended()
	end := sync.OnceFunc(a.end)
	defer end()
	// The client has sent its whole request. If watch returns before the answer ends, the client
	// has disconnected or has sent maxStray bytes of unexpected data. After the answer, the closed
	// connection ends watch.
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watch(d)
		cancel(errLeft)
	}()
	err := a.pass(ctx, d, cancel)
	end() // first, because a client can ask again as soon as the answer ends
	a.finish(ctx, d, err)
	_ = d.Conn.Close()
	<-watched
	a.s.stats.ended(a.outcome(ctx, err), &a.usage, time.Since(began))
	a.s.note(a)
}

// begin takes a place in Answers. It fails if no place is free, if the server is stopping, or if
// the caller's grant has ended meanwhile or cannot be verified.
func (a *answer) begin() error {
	if err := a.s.Answers.enter(a); err != nil {
		return err
	}
	err := errEnded
	switch a.s.Grants.Hold(a) {
	case "":
		return nil
	case auth.Unknown:
		err = durable.ErrUnavailable
	}
	a.s.Answers.leave(a)
	a.s.Answers.ended()
	return err
}

func (a *answer) end() {
	a.s.Grants.Release(a)
	a.s.Answers.leave(a)
}

// Standing implements auth.Holder.
func (a *answer) Standing() *auth.Standing { return &a.standing }

// End implements auth.Holder.
func (a *answer) End(string) { a.cancel(errEnded) }

// maxStray bounds the data that a client can send after its request, in bytes.
const maxStray = 64 << 10

// watch returns when the client has disconnected or has sent maxStray bytes of unexpected data.
func watch(d *httpapi.Detached) {
	var chunk [512]byte
	for total := 0; total < maxStray; {
		n, err := d.Conn.Read(chunk[:])
		if err != nil {
			return
		}
		total += n
	}
}

// pass forwards the upstream's answer to the client. It returns nil if the answer is complete, and
// otherwise the reason for its end.
func (a *answer) pass(ctx context.Context, d *httpapi.Detached, cancel context.CancelCauseFunc) error {
	a.s.stats.begun()
	chunks, ended := make(chan upstream.Chunk), make(chan error, 1)
	go func() {
		ended <- a.s.Upstream.Ask(ctx, a.key, a.query, func(c upstream.Chunk) error {
			select {
			case chunks <- c:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}()
	beat := time.NewTicker(a.s.Heartbeat)
	defer beat.Stop()
	for {
		var piece []byte
		select {
		case c := <-chunks:
			piece = a.event(c)
			beat.Reset(a.s.Heartbeat)
		case <-beat.C:
			if !d.Begun() {
				continue // nothing is sent before the first piece, so a failure can still set the status
			}
			piece = heartbeat
		case err := <-ended:
			if err == nil && !d.Begun() {
				return &upstream.Failure{Status: http.StatusBadGateway, Cause: upstream.CauseBroken, Text: "the AI gave no answer"}
			}
			return err
		}
		if err := d.Send(piece); err != nil {
			cancel(errLeft)
			<-ended
			return errLeft
		}
	}
}

// event encodes a chunk as an event, and notes its token count and whether it reports a block.
func (a *answer) event(c upstream.Chunk) []byte {
	if c.Usage != nil {
		a.usage = *c.Usage
	}
	a.blocked = a.blocked || upstream.Blocked(c.Finish)
	parts := c.Parts
	if len(parts) == 0 { // clients expect a text in every event
		empty := ""
		parts = []upstream.Part{{Text: &empty}}
	}
	return data("", event{[]candidate{{content{"model", parts}, c.Finish, c.Grounding}}, c.Usage, a.query.Model})
}

func data(name string, v any) []byte {
	b, err := wire.Codec.Marshal(v)
	if err != nil { // cannot happen, because texts, numbers and decoded JSON can always be encoded
		b = []byte("{}")
	}
	var out []byte
	if name != "" {
		out = append(append(append(out, "event: "...), name...), '\n')
	}
	return append(append(append(out, "data: "...), b...), "\n\n"...)
}

// finish sends the end of the answer or an error, unless the client has disconnected.
func (a *answer) finish(ctx context.Context, d *httpapi.Detached, err error) {
	if err == nil {
		d.End()
		return
	}
	a.failed = 1
	cause := context.Cause(ctx)
	if errors.Is(cause, errLeft) {
		return
	}
	refusal := a.refusal(d, cause, err)
	if d.Begun() {
		_ = d.Send(data("error", struct {
			Error string `json:"error"`
		}{refusal.Error()}))
		d.End()
		return
	}
	_ = d.Fail(refusal)
}

// refusal returns the error that the client receives. It logs the cause, unless the server is
// stopping or the caller's grant has ended.
func (a *answer) refusal(d *httpapi.Detached, cause, err error) error {
	if errors.Is(cause, errStopping) || errors.Is(cause, errEnded) {
		return cause
	}
	var f *upstream.Failure
	if !errors.As(err, &f) {
		a.s.Logger.Error("answering a question to the AI failed", "request_id", d.ID, "error", err)
		return httpapi.Refusal(http.StatusInternalServerError, "internal error", 0)
	}
	a.s.Logger.Warn("the AI did not answer", "request_id", d.ID, "cause", f.Cause, "status", f.Status, "begun", d.Begun())
	retry := f.Retry
	if f.Status == http.StatusServiceUnavailable && retry == 0 {
		retry = time.Second
	}
	return httpapi.Refusal(f.Status, f.Text, retry)
}
