package broadcast

import (
	"time"

	"atelier/bench/latency"
	"atelier/bench/report"
	"atelier/bench/server"
)

// Job describes the work of a worker: its clients and their server.
type Job struct {
	// Address is the address to connect to; Host is the Host header.
	Address string `json:"address"`
	Host    string `json:"host"`
	// More contains the other nodes of the same server. Clients are spread over all nodes, and a
	// client that loses its node connects to the next.
	More []Node `json:"more,omitempty"`
	// TLS, if set, means that the server uses TLS, and selects the accepted certificates.
	TLS *server.Trust `json:"tls,omitempty"`
	// Stream selects event streams instead of WebSockets. Publishers then POST their messages.
	Stream  bool    `json:"stream,omitempty"`
	Dialect Dialect `json:"dialect"`
	// Secrets are the values of all clients, including other workers'. They are masked in the
	// server's texts.
	Secrets []string `json:"secrets,omitempty"`
	// Subscribers and Publishers are the clients of this worker. First is the number of its first
	// client, counted over all workers. It selects source addresses and nodes, and gives each worker
	// its own random numbers.
	Subscribers []Seat `json:"subscribers"`
	Publishers  []Seat `json:"publishers"`
	First       int    `json:"first"`
	// FirstPublisher is the number of this worker's first publisher. AllPublishers is the total
	// number.
	FirstPublisher int    `json:"first_publisher"`
	AllPublishers  int    `json:"all_publishers"`
	Seed           uint64 `json:"seed"`
	// Key is the key of the stamps, the same for all workers of a run.
	Key uint64 `json:"key"`
	// Stalled is the number of subscribers that stop reading for a while. ReceiveBuffer is their
	// SO_RCVBUF, in bytes.
	Stalled       int `json:"stalled,omitempty"`
	ReceiveBuffer int `json:"receive_buffer,omitempty"`
}

// Node is another address of the server.
type Node struct {
	Address string `json:"address"`
	Host    string `json:"host"`
}

// Seat contains the settings of one client.
type Seat struct {
	// Path includes the query.
	Path   string `json:"path"`
	Cookie string `json:"cookie,omitempty"`
	// Publish is the URL to which a publisher of event streams POSTs its messages.
	Publish string `json:"publish,omitempty"`
	// Values contains the client's values, in the order of the dialect's columns.
	Values []Raw `json:"values,omitempty"`
}

// Load is a period of sending. Times are on the run's timeline.
type Load struct {
	// Start is the time at which sending begins, and Until the time at which it ends. Messages
	// planned between From and Until are measured.
	Start time.Duration `json:"start"`
	From  time.Duration `json:"from"`
	Until time.Duration `json:"until"`
	// Stages contains the successive rates, from Start on.
	Stages []Stage `json:"stages"`
	// Regular plans messages at equal intervals instead of a Poisson process.
	Regular bool `json:"regular,omitempty"`
	// Beside is the interval between the unprompted messages of a subscriber; 0 means none. All
	// subscribers together send them at an even rate. See Dialect.Beside.
	Beside time.Duration `json:"beside,omitempty"`
	// Window, if the rate of the first stage is 0, is the maximum number of messages in progress
	// per unthrottled publisher.
	Window int `json:"window,omitempty"`
	// Parts divides the measured time for a comparison.
	Parts []Part `json:"parts,omitempty"`
}

// Stage is a part of a load: all publishers together send Rate messages per second for its
// duration.
type Stage struct {
	During time.Duration `json:"during"`
	Rate   float64       `json:"rate"`
}

// Part is a piece of the measured time. Pieces of the same Kind, counted from 0, are combined. In a
// Stalled part, the subscribers counted by Job.Stalled do not read.
type Part struct {
	From    time.Duration `json:"from"`
	Until   time.Duration `json:"until"`
	Kind    int           `json:"kind"`
	Stalled bool          `json:"stalled,omitempty"`
}

// Drop is an order to close all subscribers' connections at the same time, and to reconnect within
// a random time of at most Spread.
type Drop struct {
	At     time.Duration `json:"at"`
	Spread time.Duration `json:"spread"`
}

// Muster is the number of a worker's ready clients, and details of the others.
type Muster struct {
	Ready int `json:"ready"`
	All   int `json:"all"`
	// Denied counts the permanent refusals.
	Denied int `json:"denied,omitempty"`
	// Unanswered counts the clients that are connected but have no answer to their opening request.
	Unanswered int `json:"unanswered,omitempty"`
	// Ends counts the ended connections by reason. Strange is a received text in which the dialect
	// finds nothing, as in Outcome.
	Ends    map[string]int `json:"ends,omitempty"`
	Strange string         `json:"strange,omitempty"`
}

// Finish is an order to wait until everything has arrived, at most until a given time. Sent
// contains the number of messages of each publisher. Refused contains the numbers of the messages
// that the server has refused, by publisher.
type Finish struct {
	Until   time.Duration   `json:"until"`
	Sent    []int64         `json:"sent"`
	Refused map[int][]int64 `json:"refused,omitempty"`
}

// Sample is one second of a worker. Second is its number on the timeline.
type Sample struct {
	Second     int64 `json:"second"`
	Sent       int64 `json:"sent"`
	Deliveries int64 `json:"deliveries"`
	Errors     int64 `json:"errors"`
	// Open is the number of ready subscribers at the end of the second.
	Open int `json:"open"`
	// Latencies contains the measured latencies, or is nil if there are none.
	Latencies *latency.Histogram `json:"latencies,omitempty"`
}

// Sent counts the messages that a worker's publishers have sent, and lists the refused ones.
type Sent struct {
	// Messages and Refused are by publisher number.
	Messages map[int]int64   `json:"messages"`
	Refused  map[int][]int64 `json:"refused,omitempty"`
}

// Outcome contains the results of a worker. The report merges the histograms of all workers.
type Outcome struct {
	// Deliveries contains the latencies of deliveries to readers, from the planned time. Parts
	// contains the same for each kind of part. Acks contains the times from the planned time to the
	// acknowledgement. Connects and Resumes contain the times to connect and to reconnect. Lag is
	// the delay with which the worker sent messages. Turns is as in sockets.Loop.
	Deliveries *latency.Histogram   `json:"deliveries"`
	Parts      []*latency.Histogram `json:"parts,omitempty"`
	Acks       *latency.Histogram   `json:"acks"`
	Connects   *latency.Histogram   `json:"connects"`
	Resumes    *latency.Histogram   `json:"resumes"`
	Lag        *latency.Histogram   `json:"lag"`
	Turns      *latency.Histogram   `json:"turns"`
	// Last contains, for each publisher, the time of each message to this worker's last reader. A
	// value is the microseconds plus 1, in four bytes, little endian. It is 0 if the time was not
	// measured.
	Last [][]byte `json:"last"`

	// Messages is the number of measured messages that this worker sent. Arrived is the number of
	// deliveries of measured messages, of all workers, to this worker's readers.
	Messages int64 `json:"messages"`
	Arrived  int64 `json:"arrived"`
	// ByNode contains the share of each node in Arrived. A delivery belongs to the node of its reader.
	ByNode []int64 `json:"by_node"`
	// AllDeliveries counts the deliveries of all messages, measured or not.
	AllDeliveries int64 `json:"all_deliveries"`

	// Lost, Duplicated and Reordered count messages, separately for each subscriber. Away counts
	// the messages that a subscriber skipped because it was away, or because the server reported a
	// gap. Gaps counts those reports to readers. Unfinished is the number of readers that were not
	// connected at the end, or received nothing after an absence or a gap.
	Lost, Duplicated, Reordered, Away int64
	Gaps                              int64 `json:"gaps"`
	Unfinished                        int   `json:"unfinished"`
	// Forged counts the deliveries with a stamp that does not belong to the message. Foreign counts
	// the deliveries with a number that nobody sent. Open is the number of connected subscribers at
	// the end. Ended counts the unexpected ends of connections that had been ready.
	Forged  int64          `json:"forged"`
	Foreign int64          `json:"foreign"`
	Stalled report.Stalled `json:"stalled"`
	Open    int            `json:"open"`
	Ended   int            `json:"ended"`
	// Gone is the number of subscribers that had been connected but were not at the end. Unsent
	// counts the messages whose publisher was not connected or could not send. Acked counts the
	// acknowledged messages.
	Gone   int   `json:"gone"`
	Unsent int64 `json:"unsent"`
	Acked  int64 `json:"acked"`
	// Beside is the number of unprompted messages of subscribers. Refused counts the refused
	// messages and the failed posts.
	Beside  int64 `json:"beside,omitempty"`
	Refused int64 `json:"refused"`
	// Strange is the first text to a ready subscriber in which the dialect found nothing, or the
	// newest such text before any subscriber was ready. StrangeAnswer is the same for publishers.
	// Secrets in both are masked.
	Strange       string `json:"strange,omitempty"`
	StrangeAnswer string `json:"strange_answer,omitempty"`
	// Complaint is the text of the last refusal or failed post. Secrets in it are masked.
	Complaint   string         `json:"complaint,omitempty"`
	Disconnects map[string]int `json:"disconnects,omitempty"`
	// Unopened is the number of subscribers that are not connected because this machine lacks a
	// resource. Lack describes the resource.
	Unopened int    `json:"unopened,omitempty"`
	Lack     string `json:"lack,omitempty"`

	// Rest is the sample of the partial second in which the run ended.
	Rest Sample `json:"rest"`

	// CPU is the CPU time of the process in the measured time, and Busy the busy time of its loop.
	CPU  time.Duration `json:"cpu"`
	Busy time.Duration `json:"busy"`
}
