package acceptance

import (
	"context"
	"sync"
	"testing"
	"time"

	"atelier/bench/demo"
)

// TestTheDemoIsLively: people join, move, talk, get stuck, ask for help, and reach the end.
// The server refuses none of their requests.
func TestTheDemoIsLively(t *testing.T) {
	t.Parallel()
	addr := common.get(t).Addr()
	var mu sync.Mutex
	complaints := []string{}
	w, err := demo.Prepare(demo.Config{
		Attendees: 12, Speed: 600, Join: 100 * time.Millisecond, Seed: 1,
		Note: func(text string) { mu.Lock(); defer mu.Unlock(); complaints = append(complaints, text) },
	}, demo.Target{URL: "http://" + addr, AdminID: adminID, AdminPW: adminPW})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	lead := facilitator(t, addr, "")
	asked := 0
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		seen := lead.get("/codelabs/" + w.ID + "/overview").object()
		if n, _ := seen["open_help"].(float64); n > 0 {
			asked++
		}
		if n, _ := seen["completed"].(float64); n == 12 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("not everybody came through: %v", seen)
		}
	}
	cancel()
	running.Wait()
	if asked == 0 {
		t.Error("nobody asked for help")
	}
	if n := len(lead.get("/codelabs/" + w.ID + "/chat").list()); n < 5 {
		t.Errorf("%d messages were said", n)
	}
	if n := len(lead.get("/codelabs/" + w.ID + "/feedback").list()); n != 12 {
		t.Errorf("%d people said how it was", n)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, text := range complaints {
		t.Error(text)
	}
}
