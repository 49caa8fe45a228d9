package acceptance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	natsserver "github.com/nats-io/nats-server/v2/server"

	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/service"
	"atelier/persistence/postgres/postgrestest"
)

const (
	// testLease is the length of a lease in tests that wait for its end. With less than the server's
	// default, a node on a very busy machine loses its lease again before it serves.
	testLease = 3 * time.Second
	// lastingLease is longer than the pauses of a busy machine. A node waits a third of it for a
	// response before it retries.
	lastingLease = 9 * time.Second
)

// link forwards connections to a server until it is cut.
type link struct {
	network  string
	to       string
	listener net.Listener
	mu       sync.Mutex
	cut      bool
	open     map[net.Conn]bool
}

func newLink(t testing.TB, network, to string) *link {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k := &link{network: network, to: to, listener: l, open: map[net.Conn]bool{}}
	go k.serve()
	t.Cleanup(func() {
		_ = l.Close()
		k.set(true)
	})
	return k
}

func (k *link) serve() {
	for {
		c, err := k.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial(k.network, k.to)
		if err != nil || !k.add(c, out) {
			_ = c.Close()
			if out != nil {
				_ = out.Close()
			}
			continue
		}
		go k.pass(c, out)
		go k.pass(out, c)
	}
}

func (k *link) add(conns ...net.Conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range conns {
		if !k.cut {
			k.open[c] = true
		}
	}
	return !k.cut
}

func (k *link) pass(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_, _ = to.Close(), from.Close()
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.open, to)
	delete(k.open, from)
}

// set cuts the link or restores it.
func (k *link) set(cut bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cut = cut
	for c := range k.open {
		if cut {
			_ = c.Close()
		}
	}
}

// throughLinks gives each configuration a separate link to the database.
func throughLinks(t testing.TB, dsn string, cfgs []config.Config) (links []*link) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	socket := u.Query().Get("host") + "/.s.PGSQL." + firstOf(u.Query().Get("port"), "5432")
	for i := range cfgs {
		k := newLink(t, "unix", socket)
		cfgs[i].Storage.Postgres = config.Secret("postgres://postgres@" + k.listener.Addr().String() + u.Path + "?sslmode=disable")
		links = append(links, k)
	}
	return links
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// startShort starts nodes whose leases end soon after they lose the database.
func startShort(t *testing.T, cfgs []config.Config) []*service.Service {
	t.Helper()
	return startLeased(t, testLease, cfgs)
}

// startLasting starts nodes that keep their leases even on a busy machine.
func startLasting(t *testing.T, cfgs []config.Config) []*service.Service {
	t.Helper()
	return startLeased(t, lastingLease, cfgs)
}

func startLeased(t *testing.T, lease time.Duration, cfgs []config.Config) (nodes []*service.Service) {
	t.Helper()
	for _, cfg := range cfgs {
		s := startWith(t, cfg, service.Options{Lease: lease})
		t.Cleanup(func() { _ = s.Stop() })
		nodes = append(nodes, s)
	}
	return nodes
}

// apart gives each node a separate link to one NATS server, and returns the links. A node without
// its link reaches no other node. NATS servers inside the nodes would find routes around a cut
// link.
func apart(t testing.TB, cfgs []config.Config) (ways []*link) {
	t.Helper()
	s, err := natsserver.NewServer(&natsserver.Options{Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(testTimeout) {
		t.Fatal("NATS did not start")
	}
	for i := range cfgs {
		k := newLink(t, "tcp", s.Addr().String())
		cfgs[i].Cluster.NATSURL = config.Secret("nats://" + k.listener.Addr().String())
		ways = append(ways, k)
	}
	return ways
}

// A node that reaches no other node releases its actors. It serves again when it reaches another
// node.
func TestAnIsolatedNodeReleasesItsActors(t *testing.T) {
	t.Parallel()
	cfgs := nodeConfigs(t, 3, postgrestest.Database(t), testConfig(t))
	ways := apart(t, cfgs)
	nodes := startShort(t, cfgs)
	c := newClassOn(t, nodes[0].Addr(), record{})
	who := c.attendee("Ann")
	listening := who.connect(c.id, "")
	post := func(node int, text string) bool {
		who.base = "http://" + nodes[node].Addr()
		got, err := who.browser.try(http.MethodPost, c.path+"/messages", record{"type": "chat", "message": text, "ref": text})
		return err == nil && got.status == http.StatusOK
	}
	eventual(t, "a message", func() bool { return post(0, "before") })
	ways[0].set(true)
	eventual(t, "a message through another node", func() bool { return post(1, "meanwhile") })
	eventual(t, "the isolated node to stop being ready", func() bool { return !ready(nodes[0]) })
	if post(0, "unheard") {
		t.Error("an isolated node accepts messages")
	}
	// The code is 1013 if the codelab had moved to another node, which can no longer be reached.
	if code := listening.closed(); code != 1012 && code != 1013 {
		t.Errorf("the connection to the isolated node was closed with %d, want 1012 or 1013", code)
	}
	ways[0].set(false)
	eventual(t, "a node that is back", func() bool { return ready(nodes[0]) })
	eventual(t, "a message through the reconnected node", func() bool { return post(0, "after") })
	for i := range nodes {
		who.base = "http://" + nodes[i].Addr()
		if got := chatOf(who.get(c.path + "/chat").body); got != "before\nmeanwhile\nafter\n" {
			t.Errorf("node %d has the chat %q", i, got)
		}
	}
}

// chatOperation is one operation of a client on a codelab's chat.
type chatOperation struct {
	post string // the message, or "" for a read
}

// chatModel is a chat as all clients should see it: a list that only grows.
var chatModel = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		if post := input.(chatOperation).post; post != "" {
			return true, state.(string) + post + "\n"
		}
		return output.(string) == state.(string), state
	},
	Equal: func(a, b any) bool { return a == b },
}

// One node after another loses the database, so that others take over, and then comes back. During
// this time, every read on any node contains each acknowledged message from all nodes exactly once.
func TestTakeoversAreNotNoticed(t *testing.T) {
	t.Parallel()
	rounds := 3
	if os.Getenv("LONG_TESTS") != "" {
		rounds = 100
	}
	dsn := postgrestest.Database(t)
	cfgs := nodeConfigs(t, 3, dsn, testConfig(t))
	links := throughLinks(t, dsn, cfgs)
	nodes := startShort(t, cfgs)
	c := newClassOn(t, nodes[0].Addr(), record{})
	who := c.attendee("Ann")
	bases := func(i int) string { return "http://" + nodes[i%len(nodes)].Addr() }

	var mu sync.Mutex
	var history []porcupine.Operation
	began := time.Now()
	clock := func() int64 { return int64(time.Since(began)) }
	note := func(client int, in chatOperation, call int64, out any, back int64) {
		mu.Lock()
		defer mu.Unlock()
		history = append(history, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: back})
	}
	var posted atomic.Int64
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for client := range 4 {
		b := who.with()
		clients.Go(func() {
			for n := 0; ; n++ {
				if client%2 == 0 {
					time.Sleep(5 * time.Millisecond) // two clients write; the other two read as fast as they can
				}
				select {
				case <-stop:
					return
				default:
				}
				if posted.Load() >= maxRead-20 && client%2 == 0 {
					continue
				}
				call := clock()
				if client%2 == 0 {
					text := fmt.Sprint(client, "-", n)
					if repeat(b, bases, client+n, http.MethodPost, c.path+"/messages", record{"type": "chat", "message": text, "ref": text}, stop) != nil {
						note(client, chatOperation{text}, call, nil, clock())
						posted.Add(1)
					} else {
						note(client, chatOperation{text}, call, nil, math.MaxInt64)
					}
				} else if body := repeat(b, bases, client+n, http.MethodGet, c.path+"/chat?limit=1000", nil, stop); body != nil {
					note(client, chatOperation{}, call, chatOf(body), clock())
				}
			}
		})
	}
	for round := range rounds {
		before := posted.Load()
		eventual(t, "messages before a cut", func() bool { return posted.Load() > min(before+3, maxRead-50) })
		links[round%3].set(true)
		eventual(t, "a node that has noticed the cut", func() bool { return !ready(nodes[round%3]) })
		before = posted.Load()
		eventual(t, "messages while a node is cut off", func() bool { return posted.Load() > min(before+6, maxRead-50) })
		links[round%3].set(false)
		eventual(t, "a node that is back", func() bool { return ready(nodes[round%3]) })
	}
	close(stop)
	clients.Wait()
	if posted.Load() > maxRead {
		t.Fatalf("there are %d messages, but one read returns at most %d", posted.Load(), maxRead)
	}
	for i := range nodes {
		b := who
		b.base = bases(i)
		call := clock()
		note(10+i, chatOperation{}, call, chatOf(b.get(c.path+"/chat?limit=1000").body), clock())
	}
	if !porcupine.CheckOperations(chatModel, history) {
		t.Errorf("the history of %d operations on three nodes is not linearizable: %s", len(history), explain(history))
	}
	t.Logf("%d operations, %d messages", len(history), posted.Load())
}

// maxRead is the maximum number of messages in one read.
const maxRead = 1000

// explain describes the first operation in a history that is impossible on a single server.
func explain(history []porcupine.Operation) string {
	slices.SortFunc(history, func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
	longest, acked := "", map[string]int64{}
	for i, o := range history {
		in := o.Input.(chatOperation)
		if in.post != "" {
			acked[in.post] = o.Return
			continue
		}
		got := o.Output.(string)
		seen := map[string]bool{}
		for line := range strings.Lines(got) {
			if seen[line] {
				return fmt.Sprintf("operation %d reads %q twice", i, line)
			}
			seen[line] = true
		}
		if !strings.HasPrefix(got, longest) && !strings.HasPrefix(longest, got) {
			return fmt.Sprintf("operation %d reads the messages in another order: %q and %q", i, got, longest)
		}
		for post, at := range acked {
			if at < o.Call && !seen[post+"\n"] {
				return fmt.Sprintf("the read of client %d from %v to %v lacks %q, which was acknowledged at %v", o.ClientId,
					time.Duration(o.Call), time.Duration(o.Return), post, time.Duration(at))
			}
		}
		for _, before := range history[:i] {
			if before.Input.(chatOperation).post == "" && before.Return < o.Call && len(before.Output.(string)) > len(got) {
				return fmt.Sprintf("at %v, client %d read fewer messages than client %d had read before", time.Duration(o.Call), o.ClientId, before.ClientId)
			}
		}
		if len(got) > len(longest) {
			longest = got
		}
	}
	return "no order of the reads and messages explains the history"
}

// repeat sends a request until a node responds successfully. It returns nil if the test ends
// first.
func repeat(b *browser, bases func(int) string, n int, method, path string, body any, stop chan struct{}) []byte {
	for ; ; n++ {
		b.base = bases(n)
		if got, err := b.try(method, path, body); err == nil && got.status == http.StatusOK {
			return got.body
		}
		select {
		case <-stop:
			return nil
		case <-time.After(20 * time.Millisecond): // a client's pause before it tries again
		}
	}
}

func chatOf(body []byte) string {
	var all strings.Builder
	var list []struct{ Message string }
	if err := json.Unmarshal(body, &list); err != nil {
		return err.Error()
	}
	for _, m := range list {
		all.WriteString(m.Message + "\n")
	}
	return all.String()
}

// ready reports whether a node would accept traffic.
func ready(s *service.Service) bool {
	res, err := (&http.Client{Timeout: testTimeout}).Get("http://" + s.InternalAddr() + "/readyz")
	if err != nil {
		return false
	}
	defer res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// eventual calls cond repeatedly until it returns true, and fails the test after two minutes.
func eventual(t testing.TB, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting for %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
