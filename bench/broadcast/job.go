package broadcast

import (
	"time"

	"atelier/bench/latency"
	"atelier/bench/report"
	"atelier/bench/tunnel"
)

// Job describes the work of a worker: its clients and their server.
type Job struct {
	// Address to connect to; Host goes into the Host header.
	Address string `json:"address"`
	Host    string `json:"host"`
	// More are other nodes of the same server: clients are spread over all, and
	// a client that loses its node goes to the next.
	More []Node `json:"more,omitempty"`
	// TLS means that the server speaks it, and which certificates are good.
	TLS *tunnel.Trust `json:"tls,omitempty"`
	// Stream asks for event streams instead of WebSockets. Publishers then POST their
	// messages.
	Stream  bool    `json:"stream,omitempty"`
	Dialect Dialect `json:"dialect"`
	// Secrets are the values of all clients, also of other workers'. They are masked in a
	// server's texts.
	Secrets []string `json:"secrets,omitempty"`
	// Subscribers and Publishers of this worker. First is the number of its first
	// client among those of all workers: it spreads the source addresses.
	Subscribers []Seat `json:"subscribers"`
	Publishers  []Seat `json:"publishers"`
	First       int    `json:"first"`
	// FirstPublisher is the number of its first publisher, AllPublishers how many
	// there are in all.
	FirstPublisher int    `json:"first_publisher"`
	AllPublishers  int    `json:"all_publishers"`
	Seed           uint64 `json:"seed"`
	// Key of the stamps, for all workers of one run.
	Key uint64 `json:"key"`
	// ReceiveBuffer is SO_RCVBUF of those who will stop reading, bytes.
	Stalled       int `json:"stalled,omitempty"`
	ReceiveBuffer int `json:"receive_buffer,omitempty"`
}

// Node is another way into a server.
type Node struct {
	Address string `json:"address"`
	Host    string `json:"host"`
}

// Seat is one client: what is its own in what it says.
type Seat struct {
	// Path with the query.
	Path   string `json:"path"`
	Cookie string `json:"cookie,omitempty"`
	// Publish is the URL to which a publisher of event streams POSTs its messages.
	Publish string `json:"publish,omitempty"`
	// Values of the client, in the order of the dialect's columns.
	Values []Raw `json:"values,omitempty"`
}

// Load is a time of sending. Times are on the run's timeline.
type Load struct {
	// Start of the sending; what is planned from From until Until is measured.
	Start time.Duration `json:"start"`
	From  time.Duration `json:"from"`
	Until time.Duration `json:"until"`
	// Stages of the rate, one after the other from Start on.
	Stages []Stage `json:"stages"`
	// Regular plans messages at equal distances instead of a Poisson process.
	Regular bool `json:"regular,omitempty"`
	// Beside is the time between two things that a subscriber says by itself, those of
	// all evenly spread; 0 for none. See Dialect.Beside.
	Beside time.Duration `json:"beside,omitempty"`
	// Window, if the rate of the first stage is 0, is how many messages an unthrottled
	// publisher can have in progress.
	Window int `json:"window,omitempty"`
	// Parts divides the measured time for a comparison.
	Parts []Part `json:"parts,omitempty"`
}

// Stage is a part of a load: all publishers together send Rate messages a
// second for so long.
type Stage struct {
	During time.Duration `json:"during"`
	Rate   float64       `json:"rate"`
}

// Part is a piece of the measured time. Pieces of one Kind, counted from 0, are
// taken together. In one that is Stalled, those who may stop reading do.
type Part struct {
	From    time.Duration `json:"from"`
	Until   time.Duration `json:"until"`
	Kind    int           `json:"kind"`
	Stalled bool          `json:"stalled,omitempty"`
}

// Drop is an order to lose all subscribers' connections at once, and to come
// back within a random time of Spread.
type Drop struct {
	At     time.Duration `json:"at"`
	Spread time.Duration `json:"spread"`
}

// Muster is how many clients of a worker are ready, and what there is to say of
// the others.
type Muster struct {
	Ready int `json:"ready"`
	All   int `json:"all"`
	// Denied counts the refusals that asking again does not change.
	Denied int `json:"denied,omitempty"`
	// Unanswered are connected, and have no answer to their opening request.
	Unanswered int `json:"unanswered,omitempty"`
	// Ends are the ways in which connections ended, Strange a text in which the dialect
	// finds nothing, as in Outcome.
	Ends    map[string]int `json:"ends,omitempty"`
	Strange string         `json:"strange,omitempty"`
}

// Finish is an order to wait until everything has arrived, at most until a time.
// Sent is how many messages each publisher has sent, Refused which of them the
// server has refused.
type Finish struct {
	Until   time.Duration   `json:"until"`
	Sent    []int64         `json:"sent"`
	Refused map[int][]int64 `json:"refused,omitempty"`
}

// Sample is one second of a worker. Second is the second of the timeline.
type Sample struct {
	Second     int64 `json:"second"`
	Sent       int64 `json:"sent"`
	Deliveries int64 `json:"deliveries"`
	Errors     int64 `json:"errors"`
	Open       int   `json:"open"`
	// Latencies of this part; nil without measurements.
	Latencies *latency.Histogram `json:"latencies,omitempty"`
}

// Sent has the messages that a worker's publishers have sent.
type Sent struct {
	// By publisher number.
	Messages map[int]int64   `json:"messages"`
	Refused  map[int][]int64 `json:"refused,omitempty"`
}

// Outcome has the results of a worker. Its histograms are to be merged.
type Outcome struct {
	// Deliveries to those who read, from the planned time; Parts the same for
	// each kind of part.
	Deliveries *latency.Histogram   `json:"deliveries"`
	Parts      []*latency.Histogram `json:"parts,omitempty"`
	Acks       *latency.Histogram   `json:"acks"`
	Connects   *latency.Histogram   `json:"connects"`
	Resumes    *latency.Histogram   `json:"resumes"`
	Lag        *latency.Histogram   `json:"lag"`
	Turns      *latency.Histogram   `json:"turns"`
	// Last is, for each publisher, how long each of its messages took to the last reader of
	// this worker. Each is microseconds plus 1, in four bytes, little endian; 0 if not
	// measured.
	Last [][]byte `json:"last"`

	// Measured messages that this worker sent, and of those that arrived.
	Messages int64 `json:"messages"`
	Arrived  int64 `json:"arrived"`
	// ByNode counts the messages that arrived, by node of the client.
	ByNode []int64 `json:"by_node"`
	// Everything, also what was not measured.
	AllDeliveries int64 `json:"all_deliveries"`

	Lost, Duplicated, Reordered, Away int64
	Gaps                              int64 `json:"gaps"`
	Unfinished                        int   `json:"unfinished"`
	// Forged are deliveries with a stamp that was not given to that message,
	// Foreign those of a number that nobody sent.
	Forged  int64          `json:"forged"`
	Foreign int64          `json:"foreign"`
	Stalled report.Stalled `json:"stalled"`
	Open    int            `json:"open"`
	Ended   int            `json:"ended"`
	// Gone are subscribers who had been connected and are not at the end.
	Gone   int   `json:"gone"`
	Unsent int64 `json:"unsent"`
	Acked  int64 `json:"acked"`
	// Beside is how often subscribers said something without being asked.
	Beside  int64 `json:"beside,omitempty"`
	Refused int64 `json:"refused"`
	// Strange is the first text to a ready subscriber in which the dialect found nothing,
	// or the newest before any was ready. StrangeAnswer is the same for publishers. Both
	// are fit to be shown to people.
	Strange       string `json:"strange,omitempty"`
	StrangeAnswer string `json:"strange_answer,omitempty"`
	// Complaint is the last refusal or failure to post.
	Complaint   string         `json:"complaint,omitempty"`
	Disconnects map[string]int `json:"disconnects,omitempty"`
	// Unopened are subscribers that are not connected since this machine lacks what
	// that needs: Lack.
	Unopened int    `json:"unopened,omitempty"`
	Lack     string `json:"lack,omitempty"`

	// Rest is the second in which the run ended, as far as it had come.
	Rest Sample `json:"rest"`

	// CPU of the process and Busy of its loop in the measured time.
	CPU  time.Duration `json:"cpu"`
	Busy time.Duration `json:"busy"`
}
