package ai

import (
	"context"
	"sync"
)

// Answers bounds the answers in progress, in total and per person. It is safe for concurrent use.
type Answers struct {
	max, perPerson int

	base   context.Context // the context of all answers, which close cancels
	cancel context.CancelCauseFunc

	mu      sync.Mutex // guards the following fields
	closed  bool
	streams sync.WaitGroup
	persons map[string]map[*answer]struct{}
	active  int
}

// NewAnswers returns bounds for the given numbers of concurrent answers.
func NewAnswers(most, perPerson int) *Answers {
	u := &Answers{max: most, perPerson: perPerson, persons: map[string]map[*answer]struct{}{}}
	u.base, u.cancel = context.WithCancelCause(context.Background())
	return u
}

// close refuses new answers and waits for the answers in progress. When ctx ends, it cancels the
// remaining answers and waits for their end.
func (u *Answers) close(ctx context.Context) {
	u.mu.Lock()
	u.closed = true
	u.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		u.streams.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	u.cancel(errStopping)
	<-ended
}

// room returns an error if the limits permit no further answer for the person, or if the server is
// stopping.
func (u *Answers) room(person string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.full(person)
}

// enter takes a place. Only the serving goroutine calls enter. If the place were taken earlier and
// the connection closed before the goroutine started, nothing would free the place.
func (u *Answers) enter(a *answer) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.full(a.person); err != nil {
		return err
	}
	u.active++
	if u.persons[a.person] == nil {
		u.persons[a.person] = map[*answer]struct{}{}
	}
	u.persons[a.person][a] = struct{}{}
	u.streams.Add(1)
	return nil
}

func (u *Answers) full(person string) error {
	switch {
	case u.closed:
		return errStopping
	case u.active >= u.max:
		return errCrowded
	case len(u.persons[person]) >= u.perPerson:
		return errYours
	}
	return nil
}

// leave frees the place. The caller must still call ended.
func (u *Answers) leave(a *answer) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.active--
	if delete(u.persons[a.person], a); len(u.persons[a.person]) == 0 {
		delete(u.persons, a.person)
	}
}

// ended marks an answer whose usage is recorded, or which did not begin. close waits for this.
func (u *Answers) ended() { u.streams.Done() }

// Removed ends the answers to an attendee whose grant has ended, because the attendee was removed
// or the PIN was reset.
func (u *Answers) Removed(attendee string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for a := range u.persons[attendee] {
		a.s.Grants.Check(a)
	}
}
