//go:build linux

package workshop

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/fasthttp/websocket"
)

// socket serves one WebSocket of the fake. All writes hold the fake's lock.
func (f *fake) socket(w http.ResponseWriter, r *http.Request) {
	who := caller(r)
	if who == "" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	upgrader := websocket.Upgrader{}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer ws.Close()
	c := &fakeConn{ws: ws, id: who}
	if who == "admin" {
		c.id = ""
	}
	f.welcome(c, r.URL.Query().Get("since"))
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.conns, c)
	}()
	for {
		_, p, err := ws.ReadMessage()
		if err != nil {
			return
		}
		var in struct {
			Type, Ref, Message string
			StepNumber         int `json:"step_number"`
		}
		if json.Unmarshal(p, &in) != nil {
			return
		}
		f.command(c, who, in.Type, in.Ref, in.Message, in.StepNumber)
	}
}

// welcome adds a client and replays events to it.
func (f *fake) welcome(c *fakeConn, since string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	from := f.state.Seq
	if since != "" {
		from, _ = strconv.ParseUint(since, 10, 64)
	}
	f.conns[c] = true
	_ = c.ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"type":"welcome","epoch":"e1","seq":%d,"head":%d}`, from, f.state.Seq))
	for _, e := range f.state.Events {
		if e.Seq > from {
			f.deliver(c, e)
		}
	}
}

func (f *fake) command(c *fakeConn, who, kind, ref, text string, step int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := who + " " + ref
	seq, again := f.state.Acks[key]
	switch {
	case again:
	case kind == "chat":
		seq = f.state.Seq + 1
		f.state.Acks[key] = seq
		if f.forget == nil || !f.forget(seq) {
			f.state.Chat = append(f.state.Chat, map[string]any{"id": fmt.Sprint("chat", seq), "message": text})
		}
		f.commit("chat", false, "", map[string]any{"message": text})
	case kind == "step_progress":
		seq = f.state.Seq + 1
		f.state.Acks[key] = seq
		a := f.state.Attendees[numberOf(who)]
		furthest, _ := strconv.Atoi(fmt.Sprint(a["furthest_step"]))
		a["current_step"], a["furthest_step"] = step, max(step, furthest)
		f.commit("step_progress", true, "", map[string]any{"attendee_id": who, "step_number": step})
	}
	_ = c.ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"type":"ack","ref":%q,"seq":%d}`, ref, seq))
}
