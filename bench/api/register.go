package api

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"atelier/bench/pacing"
)

// Person is an attendee of the run.
type Person struct {
	ID      string
	Session Session
}

// atOnce is the maximum number of concurrent registrations.
const atOnce = 64

// RegisterAll registers n attendees in a codelab. The first error ends all registrations.
func RegisterAll(ctx context.Context, client *Client, codelab string, n int) ([]Person, error) {
	people := make([]Person, n)
	next := make(chan int)
	failed := make(chan error, atOnce)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var working sync.WaitGroup
	for range min(atOnce, n) {
		working.Go(func() {
			for i := range next {
				p, err := one(ctx, client, codelab, i)
				if err != nil {
					failed <- err
					cancel()
					return
				}
				people[i] = p
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	working.Wait()
	select {
	case err := <-failed:
		return nil, fmt.Errorf("register: %w", err)
	default:
		return people, ctx.Err()
	}
}

var errOften = errors.New("the server refused the registration with status 429 too often: raise its limits of registrations")

// tries is the maximum number of attempts for a registration that a rate limit refuses.
const tries = 60

// one registers the i-th attendee, and waits while a rate limit refuses the registration.
func one(ctx context.Context, client *Client, codelab string, i int) (Person, error) {
	body := fmt.Appendf(nil, `{"name":"Attendee %d","code":"%06d"}`, i+1, i)
	for range tries {
		a, err := client.Do(&Request{Method: "POST", Path: "/codelabs/" + codelab + "/register", Body: body})
		if err != nil {
			return Person{}, err
		}
		if a.Status == 429 {
			if !pacing.Sleep(ctx, max(a.RetryAfter, time.Second)) {
				return Person{}, ctx.Err()
			}
			continue
		}
		var who Attendee
		if err := a.Decode(&who); err != nil {
			return Person{}, err
		}
		return Person{who.ID, a.Session}, nil
	}
	return Person{}, errOften
}
