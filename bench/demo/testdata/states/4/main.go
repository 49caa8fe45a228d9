package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"sync"
)

type counter struct {
	mu   sync.Mutex
	seen map[string]int
}

func (c *counter) visit(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	c.mu.Lock()
	c.seen[name]++
	n := c.seen[name]
	c.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"name": name, "visits": n})
}

func main() {
	c := &counter{seen: map[string]int{}}
	http.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "Hello") })
	http.HandleFunc("POST /visits/{name}", c.visit)
	log.Fatal(http.ListenAndServe("localhost:8081", nil))
}
