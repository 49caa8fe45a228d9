package journaltest

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"atelier/actors/durable"
)

// mirror is the state that a feed has reported.
type mirror struct {
	durable.Feed
	mu   sync.Mutex
	rows map[string]string
}

func (m *member) watch(tables ...string) *mirror {
	m.Helper()
	w := &mirror{rows: map[string]string{}}
	feed, err := m.Watch(tables, func(table string, key, value []byte) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if value == nil {
			delete(w.rows, table+"/"+string(key))
			return
		}
		w.rows[table+"/"+string(key)] = string(value)
	})
	m.must(err)
	w.Feed = feed
	m.Cleanup(feed.Close)
	return w
}

// shows verifies the rows that a feed has reported, after a Sync.
func (p *pair) shows(w *mirror, want map[string]string) {
	p.Helper()
	if err := w.Sync(context.Background()); err != nil {
		p.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !maps.Equal(w.rows, want) {
		p.Fatalf("the feed reported %v, want %v", w.rows, want)
	}
}

var watchTests = []sharedTest{
	{"a feed reports existing rows and every change", func(p *pair) {
		p.a.put(put("s", "1", "old"), put("s", "", ""), put("other", "1", "x"))
		w := p.b.watch("s", "u")
		p.shows(w, map[string]string{"s/1": "old", "s/": ""})
		p.a.put(put("s", "1", "new"), put("u", "2", "v"), put("other", "1", "y"))
		p.b.put(put("s", "3", "own"))
		p.shows(w, map[string]string{"s/1": "new", "s/": "", "u/2": "v", "s/3": "own"})
		p.a.put(del("s", "1"), del("u", "2"), del("s", "never"))
		p.shows(w, map[string]string{"s/": "", "s/3": "own"})
		p.a.put(put("s", "1", "again"))
		p.shows(w, map[string]string{"s/": "", "s/1": "again", "s/3": "own"})
		l := p.a.open("codelab/1")
		p.a.putWith(l, 1, put("s", "3", "with a record"))
		p.shows(w, map[string]string{"s/": "", "s/1": "again", "s/3": "with a record"})
		if age := w.Age(); age < 0 || age > time.Hour {
			p.Fatalf("the age of the feed is %v", age)
		}
	}},

	// A node keeps the value of a row that it has written until the feed reports another one, so
	// every deletion must be reported.
	{"a feed reports the end of a row that existed only between two polls", func(p *pair) {
		gone := make(chan string, 1000)
		feed, err := p.b.Watch([]string{"s"}, func(_ string, key, value []byte) {
			if value == nil {
				gone <- string(key)
			}
		})
		p.b.must(err)
		defer feed.Close()
		for n := range 20 {
			key := fmt.Sprint(n)
			p.a.put(put("s", key, "v"))
			p.a.put(del("s", key))
			p.b.must(feed.Sync(context.Background()))
			for reported := ""; reported != key; { // repeated, because a row can be reported again
				select {
				case reported = <-gone:
				default:
					p.Fatalf("the deletion of %s is not reported", key)
				}
			}
		}
	}},

	{"a feed reports expired rows", func(p *pair) {
		w := p.b.watch("s")
		short, long := put("s", "short", "v"), put("s", "long", "v")
		short.TTL, long.TTL = 150*time.Millisecond, time.Hour
		p.a.put(short, long)
		p.until("the row has expired", func() bool {
			p.b.must(w.Sync(context.Background()))
			w.mu.Lock()
			defer w.mu.Unlock()
			_, there := w.rows["s/short"]
			return !there
		})
		p.shows(w, map[string]string{"s/long": "v"})
		p.a.hasNot("s", "short")
	}},

	{"a feed polls without a Sync", func(p *pair) {
		w := p.b.watch("s")
		p.a.put(put("s", "k", "v"))
		p.until("the row is reported", func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.rows["s/k"] == "v"
		})
	}},

	{"a feed shows every acknowledged change after a sync", func(p *pair) {
		w := p.b.watch("s")
		var all sync.WaitGroup
		for c := range 4 {
			all.Go(func() {
				key := fmt.Sprint(c)
				for n := range 40 {
					value := fmt.Sprint(n)
					if err := durable.Commit(p.a.Shared, []durable.Row{put("s", key, value)}); err != nil {
						p.Error(err)
						return
					}
					if err := w.Sync(context.Background()); err != nil {
						p.Error(err)
						return
					}
					w.mu.Lock()
					got := w.rows["s/"+key]
					w.mu.Unlock()
					if got != value {
						p.Errorf("the feed reported %q, want the committed %q", got, value)
						return
					}
				}
			})
		}
		all.Wait()
	}},

	{"a feed fails without its lease and resumes with a new one", func(p *pair) {
		w := p.b.watch("s")
		p.b.Expire()
		p.b.fails(durable.Commit(p.b.Shared, []durable.Row{put("s", "k", "v")}), durable.ErrFenced)
		p.b.fails(w.Sync(context.Background()), durable.ErrFenced)
		p.a.put(put("s", "k", "v"))
		p.b.must(p.b.Rejoin(context.Background()))
		p.shows(w, map[string]string{"s/k": "v"})
	}},
}
