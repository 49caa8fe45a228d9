package main

import (
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

func TestVisitsAreCounted(t *testing.T) {
	c := &counter{seen: map[string]int{}}
	var all sync.WaitGroup
	for range 100 {
		all.Add(1)
		go func() {
			defer all.Done()
			r := httptest.NewRequest("POST", "/visits/ada", nil)
			r.SetPathValue("name", "ada")
			c.visit(httptest.NewRecorder(), r)
		}()
	}
	all.Wait()
	r := httptest.NewRequest("POST", "/visits/ada", nil)
	r.SetPathValue("name", "ada")
	w := httptest.NewRecorder()
	c.visit(w, r)
	if got := w.Body.String(); !strings.Contains(got, `"visits":101`) {
		t.Errorf("after 101 visits it says %s", got)
	}
}
