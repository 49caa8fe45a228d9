package badger

import (
	"testing"

	"atelier/actors/durable"
)

func TestSmoke(t *testing.T) {
	s, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.Open("codelab/1")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	if err := l.Append(durable.Batch{First: 1, Records: durable.Records(nil).Add([]byte("a")), Done: func(err error) { done <- err }}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
