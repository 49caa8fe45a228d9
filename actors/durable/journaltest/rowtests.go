package journaltest

import (
	"slices"
	"strings"
	"time"

	"atelier/actors/durable"
)

var rowTests = []conformance{
	{"rows are committed with their batch", func(s *subject) {
		l := s.log("codelab/1")
		s.putWith(l, 1, put("audit", "1", "joined"), put("codelab", "1", "title"))
		s.has("audit", "1", "joined")
		s.has("codelab", "1", "title")
		s.reopen()
		s.has("audit", "1", "joined")
	}},

	{"rows of a failed batch are not written", func(s *subject) {
		l := s.log("codelab/1")
		done, o := newOutcome()
		s.must(l.Append(durable.Batch{First: 9, Records: records("a"), Rows: []durable.Row{put("audit", "1", "x")}, Done: done}))
		s.fails(<-o, durable.ErrGap)
		s.hasNot("audit", "1")
	}},

	{"rows alone are committed", func(s *subject) {
		s.put(put("session", "a", "1"), put("session", "b", ""))
		s.has("session", "a", "1")
		s.has("session", "b", "")
		s.put()
	}},

	{"the last write of a row wins", func(s *subject) {
		s.put(put("t", "k", "1"), put("t", "k", "2"))
		s.has("t", "k", "2")
		release := s.blockWriter()
		defer release()
		var outcomes []outcome
		for _, r := range []durable.Row{put("t", "k", "3"), del("t", "k"), put("t", "k", "4"), put("t", "gone", "x"), del("t", "gone")} {
			done, o := newOutcome()
			s.must(s.Append([]durable.Row{r}, done))
			outcomes = append(outcomes, o)
		}
		release()
		for _, o := range outcomes {
			s.must(<-o)
		}
		s.has("t", "k", "4")
		s.hasNot("t", "gone")
	}},

	{"a deleted row cannot be read", func(s *subject) {
		s.put(put("t", "k", "v"))
		s.put(del("t", "k"), del("t", "never"))
		s.hasNot("t", "k")
		s.reopen()
		s.hasNot("t", "k")
	}},

	{"a row with a time to live can be read before it expires", func(s *subject) {
		r := put("t", "k", "v")
		r.TTL = time.Hour
		s.put(r)
		s.has("t", "k", "v")
		s.scans(durable.Scan{Table: "t"}, "k=v")
		r.TTL = 0
		s.put(r)
		s.has("t", "k", "v")
	}},

	{"an append with a true precondition succeeds", func(s *subject) {
		s.must(s.guarded(precondition(put("t", "k", "1"), durable.Absent())))
		s.must(s.guarded(precondition(put("t", "k", "2"), durable.Unchanged([]byte("1"))), put("t", "other", "x")))
		s.has("t", "k", "2")
		s.has("t", "other", "x")
		s.must(s.guarded(precondition(del("t", "k"), durable.Unchanged([]byte("2")))))
		s.hasNot("t", "k")
	}},

	{"a false precondition refuses its whole append and no other", func(s *subject) {
		s.put(put("t", "k", "1"))
		for _, g := range []durable.Row{
			precondition(put("t", "k", "2"), durable.Absent()),
			precondition(put("t", "k", "2"), durable.Unchanged([]byte("0"))),
			precondition(put("t", "never", "2"), durable.Unchanged(nil)),
			precondition(del("t", "k"), durable.Unchanged([]byte("12"))),
		} {
			s.fails(s.guarded(put("t", "before", "x"), g, put("t", "after", "x")), durable.ErrConflict)
		}
		s.has("t", "k", "1")
		s.hasNot("t", "before")
		s.hasNot("t", "after")
		s.put(put("t", "k", "3"))
		s.has("t", "k", "3")
	}},

	{"a row that is only checked does not change", func(s *subject) {
		s.put(put("t", "k", "1"))
		check := precondition(put("t", "k", "ignored"), durable.Unchanged([]byte("1")))
		check.CheckOnly = true
		s.must(s.guarded(check))
		s.must(s.guarded(check, put("t", "other", "x")))
		s.has("t", "k", "1")
		s.has("t", "other", "x")
		check.Precondition = durable.Absent()
		s.fails(s.guarded(check), durable.ErrConflict)
		s.fails(s.guarded(put("t", "never", "x"), check), durable.ErrConflict)
		s.hasNot("t", "never")
	}},

	{"only one of several appends with the same precondition succeeds", func(s *subject) {
		s.put(put("t", "k", "free"))
		release := s.blockWriter()
		defer release()
		var outcomes []outcome
		add := func(rows ...durable.Row) {
			done, o := newOutcome()
			s.must(s.Append(rows, done))
			outcomes = append(outcomes, o)
		}
		const racers = 20
		for range racers {
			add(precondition(put("t", "k", "taken"), durable.Unchanged([]byte("free"))), put("t", "winner", "x"))
		}
		add(put("t", "k", "free"))
		add(precondition(put("t", "k", "last"), durable.Unchanged([]byte("free"))))
		add(precondition(durable.Row{Table: "t", Key: []byte("k"), CheckOnly: true}, durable.Unchanged([]byte("free"))))
		release()
		for i, o := range outcomes {
			if err := <-o; i == 0 || i == racers || i == racers+1 {
				s.must(err)
			} else {
				s.fails(err, durable.ErrConflict)
			}
		}
		s.has("t", "k", "last")
	}},

	{"a log's batch cannot have preconditions", func(s *subject) {
		l := s.log("codelab/1")
		if err := l.Append(durable.Batch{First: 1, Records: records("a"), Rows: []durable.Row{precondition(put("t", "k", "1"), durable.Absent())}}); err == nil {
			s.Fatal("a batch with a precondition was accepted")
		}
	}},

	{"get returns a copy", func(s *subject) {
		s.put(put("t", "k", "value"))
		v, err := s.Get("t", []byte("k"))
		s.must(err)
		v[0] = 'X'
		s.has("t", "k", "value")
	}},

	{"scans go through a table in order", func(s *subject) {
		s.put(put("a", "z", "other"), put("tt", "a", "other"), put("s", "\xff", "other"),
			put("t", "b1", "2"), put("t", "a", "1"), put("t", "c", "4"), put("t", "b2", "3"), put("t", "", "0"),
			put("t", "\xff", "5"), put("t", "\xff\xff", "6"))
		all := []string{"=0", "a=1", "b1=2", "b2=3", "c=4", "\xff=5", "\xff\xff=6"}
		back := slices.Clone(all)
		slices.Reverse(back)
		b := func(s string) []byte { return []byte(s) }

		s.scans(durable.Scan{Table: "t"}, all...)
		s.scans(durable.Scan{Table: "t", Reverse: true}, back...)
		s.scans(durable.Scan{Table: "t", Prefix: b("b")}, all[2:4]...)
		s.scans(durable.Scan{Table: "t", Prefix: b("b"), Reverse: true}, back[3:5]...)
		s.scans(durable.Scan{Table: "t", Prefix: b("\xff")}, all[5:]...)
		s.scans(durable.Scan{Table: "t", Prefix: b("\xff"), Reverse: true}, back[:2]...)
		s.scans(durable.Scan{Table: "t", From: b("b2")}, all[3:]...)
		s.scans(durable.Scan{Table: "t", From: b("b11")}, all[3:]...)
		s.scans(durable.Scan{Table: "t", From: b("b2"), Reverse: true}, back[3:]...)
		s.scans(durable.Scan{Table: "t", From: b("b3"), Reverse: true}, back[3:]...)
		s.scans(durable.Scan{Table: "t", Prefix: b("b"), From: b("b2")}, "b2=3")
		s.scans(durable.Scan{Table: "t", Prefix: b("b"), From: b("a")}, "b1=2", "b2=3")
		s.scans(durable.Scan{Table: "t", Prefix: b("b"), From: b("c")})
		s.scans(durable.Scan{Table: "t", Prefix: b("b"), From: b("c"), Reverse: true}, "b2=3", "b1=2")
		s.scans(durable.Scan{Table: "t", Prefix: b("b"), From: b("b1"), Reverse: true}, "b1=2")
		s.scans(durable.Scan{Table: "t", Prefix: b("b"), From: b("a"), Reverse: true})
		s.scans(durable.Scan{Table: "t", Prefix: b("b1"), Reverse: true}, "b1=2")
		s.scans(durable.Scan{Table: "none"})
		s.scans(durable.Scan{Table: "none", Reverse: true})
	}},

	{"a scan stops when its callback returns false", func(s *subject) {
		s.put(put("t", "a", "1"), put("t", "b", "2"))
		calls := 0
		s.must(s.Scan(durable.Scan{Table: "t"}, func(_, _ []byte) bool { calls++; return false }))
		if calls != 1 {
			s.Fatalf("the callback was called %d times, want 1", calls)
		}
	}},

	{"a scan reads one state", func(s *subject) {
		s.put(put("t", "a", "1"), put("t", "b", "1"))
		var seen []string
		s.must(s.Scan(durable.Scan{Table: "t"}, func(key, value []byte) bool {
			if len(seen) == 0 {
				s.put(put("t", "b", "2"), put("t", "c", "2"))
			}
			seen = append(seen, string(key)+"="+string(value))
			return true
		}))
		if !slices.Equal(seen, []string{"a=1", "b=1"}) {
			s.Fatalf("the scan returned %q", seen)
		}
	}},

	{"invalid table names are refused", func(s *subject) {
		for _, table := range []string{"", "Upper", "nul\x00", "ä"} {
			if s.Append([]durable.Row{put(table, "k", "v")}, s.neverDone()) == nil {
				s.Errorf("table %q was accepted", table)
			}
		}
	}},

	{"a large row is stored", func(s *subject) {
		value := strings.Repeat("v", 3<<20)
		s.put(put("t", "k", value))
		s.has("t", "k", value)
	}},
}

func put(table, key, value string) durable.Row {
	return durable.Row{Table: table, Key: []byte(key), Value: []byte(value)}
}

func del(table, key string) durable.Row {
	return durable.Row{Table: table, Key: []byte(key), Delete: true}
}

// put commits rows only.
func (s *subject) put(rows ...durable.Row) {
	s.Helper()
	done, o := newOutcome()
	s.must(s.Append(rows, done))
	s.must(<-o)
}

// putWith commits rows with a record.
func (s *subject) putWith(l handle, seq uint64, rows ...durable.Row) {
	s.Helper()
	done, o := newOutcome()
	s.must(l.Append(durable.Batch{First: seq, Records: records("r"), Rows: rows, Done: done}))
	s.must(<-o)
}

func (s *subject) has(table, key, want string) {
	s.Helper()
	got, err := s.Get(table, []byte(key))
	s.must(err)
	if string(got) != want {
		s.Fatalf("%s/%s: got %.40q, want %.40q", table, key, got, want)
	}
}

func (s *subject) hasNot(table, key string) {
	s.Helper()
	_, err := s.Get(table, []byte(key))
	s.fails(err, durable.ErrNotFound)
}

func (s *subject) scans(q durable.Scan, want ...string) {
	s.Helper()
	var got []string
	s.must(s.Scan(q, func(key, value []byte) bool {
		got = append(got, string(key)+"="+string(value))
		return true
	}))
	if !slices.Equal(got, want) {
		s.Fatalf("scan %+v: got %q, want %q", q, got, want)
	}
}

func precondition(r durable.Row, g durable.Precondition) durable.Row {
	r.Precondition = g
	return r
}

// guarded appends rows and returns the result.
func (s *subject) guarded(rows ...durable.Row) error {
	return durable.Commit(s.Journal, rows)
}
