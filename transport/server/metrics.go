package server

import (
	"maps"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"atelier/actors/durable"
	"atelier/actors/token"
	"atelier/actors/webhook"
	"atelier/transport/ai"
	"atelier/transport/live"
)

// Metrics contains the server's Prometheus metrics. Labels contain operations, statuses and
// reasons, but never data of a person or codelab.
type Metrics struct {
	Registry *prometheus.Registry

	requests *prometheus.HistogramVec
	// times contains the histograms of requests by their labels. A new histogram replaces the map.
	times    atomic.Pointer[map[requestLabels]prometheus.Observer]
	timesMu  sync.Mutex // held while the map is replaced
	commits  prometheus.Histogram
	handled  *prometheus.HistogramVec
	damaged  prometheus.Counter
	failures prometheus.Counter
	waits    prometheus.Histogram
	acks     prometheus.Histogram
	delivery prometheus.Histogram
	// The commits and waits of the last minutes.
	lateCommits, lateWaits recentDurations
}

// NewMetrics returns the metrics that the server records itself. Watch adds the metrics that are
// read at each scrape.
func NewMetrics(version string) *Metrics {
	m := &Metrics{
		lateCommits: recentDurations{now: time.Now}, lateWaits: recentDurations{now: time.Now},
		Registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "atelier_http_request_seconds", Help: "Time to answer a request, by operation and status.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"operation", "status"}),
		commits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "atelier_journal_commit_seconds", Help: "Time of one group commit, disk included.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5},
		}),
	}
	m.times.Store(&map[requestLabels]prometheus.Observer{})
	m.handled = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "atelier_handler_operation_seconds", Help: "Time of an operation of the tokenization handler, by environment, operation and result.",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 10},
	}, []string{"environment", "operation", "result"})
	m.damaged = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "atelier_damaged_contents_total", Help: "Times a stored object was found to differ from what was written.",
	})
	m.failures = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "atelier_login_failures_total", Help: "Logins with a wrong account or password.",
	})
	latency := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "atelier_" + name, Help: help,
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		})
	}
	m.waits = latency("actor_wait_seconds", "Time that a command waits in the queue of its actor, sampled from one command in eight.")
	m.acks = latency("ack_seconds", "Time from a message on a socket to its ack, disk included.")
	m.delivery = latency("delivery_seconds", "Time from the publication of a frame until it was written to every connection that keeps up, for each fan-out.")
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "atelier_build_info", Help: "1, with the versions of the program and of Go.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()},
	}, func() float64 { return 1 })
	m.Registry.MustRegister(m.failures, m.waits, m.acks, m.delivery, build)
	m.Registry.MustRegister(m.requests, m.commits, m.handled, m.damaged, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// requestLabels are the labels of the histogram of a request.
type requestLabels struct {
	operation string
	status    int
}

// Request records a response.
func (m *Metrics) Request(operation string, status int, took time.Duration) {
	m.timesOf(requestLabels{operation, status}).Observe(took.Seconds())
}

// timesOf returns the histogram of a request. The vector's own search by labels would take 3 % of the
// time of a read without sockets.
func (m *Metrics) timesOf(l requestLabels) prometheus.Observer {
	if h := (*m.times.Load())[l]; h != nil {
		return h
	}
	m.timesMu.Lock()
	defer m.timesMu.Unlock()
	times := maps.Clone(*m.times.Load())
	times[l] = m.requests.WithLabelValues(l.operation, strconv.Itoa(l.status))
	m.times.Store(&times)
	return times[l]
}

// Handled records an operation of the tokenization handler.
func (m *Metrics) Handled(environment, operation, result string, took time.Duration) {
	m.handled.WithLabelValues(environment, operation, result).Observe(took.Seconds())
}

// Commit records a group commit.
func (m *Metrics) Commit(took time.Duration) {
	m.commits.Observe(took.Seconds())
	m.lateCommits.observe(took)
}

// RecentCommits summarizes the durations of the commits in the last minutes.
func (m *Metrics) RecentCommits() Recent { return m.lateCommits.recent() }

// LoginFailed counts a login with a wrong account or password.
func (m *Metrics) LoginFailed() { m.failures.Inc() }

// Waited records a command's time in the queue of its actor.
func (m *Metrics) Waited(took time.Duration) {
	m.waits.Observe(took.Seconds())
	m.lateWaits.observe(took)
}

// RecentWaits summarizes the waiting times of the last minutes, sampled from one command in eight.
func (m *Metrics) RecentWaits() Recent { return m.lateWaits.recent() }

// Acked records the time to a message's ack.
func (m *Metrics) Acked(took time.Duration) { m.acks.Observe(took.Seconds()) }

// Delivered records a fan-out.
func (m *Metrics) Delivered(took time.Duration) { m.delivery.Observe(took.Seconds()) }

// Damaged counts a stored object whose content has changed.
func (m *Metrics) Damaged() { m.damaged.Inc() }

// Sources are read at each scrape.
type Sources struct {
	Store       func() durable.StoreStats
	Hub         func() live.Stats
	Actors      func() *durable.Stats
	AI          func() ai.Stats
	Active      func() int
	Quarantined func() int
	Sessions    func() int
	Codelabs    func() int
	Webhooks    func() webhook.Stats
	Machine     func() Machine
	// Tokens returns the vaults' statistics by environment.
	Tokens func() map[string]token.Stats
	Public func() PublicStats
	// Bodies returns the number of bodies refused for lack of memory.
	Bodies func() int64
	// Passwords returns the number of computed password hashes.
	Passwords func() int64
	// Cluster is nil, or returns nil, on a single server.
	Cluster func() *ClusterStats
}

// Machine contains values of the machine. Unknown or missing values are zero.
type Machine struct {
	// Memory is the memory of the machine, or a container's limit, in bytes.
	Memory uint64
	// Backup is the time of the last backup. CertificateEnds is the server certificate's expiry.
	Backup, CertificateEnds time.Time
}

// Watch registers the metrics that are read from s at each scrape.
func (m *Metrics) Watch(s Sources) { m.Registry.MustRegister(source{s}) }

type source struct{ Sources }

// Describe describes nothing, which makes the collector unchecked. Its metrics follow from Collect.
func (source) Describe(chan<- *prometheus.Desc) {}

// Collect reads every source once.
func (s source) Collect(ch chan<- prometheus.Metric) {
	emit := func(kind prometheus.ValueType, name, help string, v float64, labels ...string) {
		var names, values []string
		for i := 0; i+1 < len(labels); i += 2 {
			names, values = append(names, labels[i]), append(values, labels[i+1])
		}
		ch <- prometheus.MustNewConstMetric(prometheus.NewDesc("atelier_"+name, help, names, nil), kind, v, values...)
	}
	gauge := func(name, help string, v float64, labels ...string) {
		emit(prometheus.GaugeValue, name, help, v, labels...)
	}
	count := func(name, help string, v float64, labels ...string) {
		emit(prometheus.CounterValue, name, help, v, labels...)
	}

	st := s.Store()
	gauge("journal_queue_bytes", "Bytes that wait for the disk.", float64(st.QueueBytes))
	count("journal_commits_total", "Group commits.", float64(st.Commits))
	count("journal_failed_commits_total", "Group commits that failed.", float64(st.FailedCommits))
	count("journal_batches_total", "Batches committed.", float64(st.Batches))
	count("journal_records_total", "Records committed.", float64(st.Records))
	count("journal_bytes_total", "Bytes committed.", float64(st.Bytes))
	count("journal_snapshots_total", "Snapshots stored.", float64(st.Snapshots))
	count("journal_failed_snapshots_total", "Snapshots that failed.", float64(st.FailedSnapshots))
	gauge("disk_free_bytes", "Free space on the disk that contains the data.", float64(st.FreeBytes))
	gauge("read_only", "1 while writes are refused.", flag(st.ReadOnly))
	for _, f := range []struct {
		kind string
		n    uint64
	}{{"read", st.Faults.Read}, {"write", st.Faults.Write}, {"sync", st.Faults.Sync}, {"background", st.Faults.Background}} {
		count("store_faults_total", "Failures of the store's disk, by kind; all except read end writing until a restart.", float64(f.n), "kind", f.kind)
	}

	a := s.Actors()
	gauge("codelabs", "Codelabs in the list.", float64(s.Codelabs()))
	gauge("codelabs_active", "Codelabs in memory.", float64(s.Active()))
	gauge("codelabs_quarantined", "Codelabs suspended after too many failures.", float64(s.Quarantined()))
	count("actor_recoveries_total", "Recoveries of actors from the journal.", float64(a.Recoveries.Load()))
	count("actor_failures_total", "Failures of actors.", float64(a.Failures.Load()))
	count("actor_panics_total", "Commands whose decision panicked.", float64(a.Panics.Load()))
	count("actor_rests_total", "Idle actors that were unloaded.", float64(a.Rests.Load()))
	gauge("sessions", "Login sessions that are valid.", float64(s.Sessions()))

	answers := s.AI()
	gauge("ai_answers", "AI answers in progress.", float64(answers.Active))
	for outcome, n := range answers.Outcomes {
		count("ai_answers_total", "AI answers that ended, by outcome.", float64(n), "outcome", outcome)
	}
	count("ai_tokens_total", "Tokens as the AI counted them.", float64(answers.PromptTokens), "kind", "prompt")
	count("ai_tokens_total", "Tokens as the AI counted them.", float64(answers.OutputTokens), "kind", "output")
	count("ai_answer_seconds_total", "Time that AI answers took.", answers.Seconds)

	hooks := s.Webhooks()
	gauge("webhook_deliveries_waiting", "Deliveries that wait for webhooks, at most 1,000 for each.", float64(hooks.Waiting))
	for result, n := range map[string]int64{"delivered": hooks.Delivered, "failed": hooks.Failed, "dropped": hooks.Dropped} {
		count("webhook_deliveries_total", "Attempts of this node that succeeded or failed, and deliveries dropped because too many wait, by result.", float64(n), "result", result)
	}

	gauge("webhooks_stopped", "Webhooks that are stopped, because their receiver failed for too long.", float64(hooks.Stopped))

	machine := s.Machine()
	for _, g := range []struct {
		name, help string
		at         time.Time
	}{
		{"backup_timestamp_seconds", "When the last backup was made on this node.", machine.Backup},
		{"certificate_end_timestamp_seconds", "When the certificate of tls_cert ends.", machine.CertificateEnds},
	} {
		if !g.at.IsZero() {
			gauge(g.name, g.help, float64(g.at.Unix()))
		}
	}
	if machine.Memory > 0 {
		gauge("machine_memory_bytes", "Memory of the machine, or the limit of its container.", float64(machine.Memory))
	}

	for env, t := range s.Tokens() {
		gauge("tokens_live", "Tokens that have not ended. Tokens of an ended session count until they expire.", float64(t.Live), "environment", env)
		gauge("token_actors", "Actors of tokens in memory.", float64(t.Resident), "environment", env)
		gauge("tokens_quarantined", "Tokens that cannot be used, because they are damaged or failing.", float64(t.Quarantined), "environment", env)
		gauge("token_operations_open", "Operations on tokens that wait for their answer.", float64(t.Open), "environment", env)
	}

	if s.Cluster != nil {
		s.Cluster().collect(emit)
	}

	count("password_hashes_total", "Computed password hashes. Each takes 19 MiB and a tenth of a second of CPU time; many indicate guessing.", float64(s.Passwords()))
	count("bodies_refused_total", "Request bodies refused for lack of memory, see limits.body_memory_mib.", float64(s.Bodies()))
	p := s.Public()
	count("accept_pauses_total", "Pauses in accepting connections for lack of descriptors or memory.", float64(p.Pauses))
	gauge("silent_connections", "Connections that have not sent a whole request yet.", float64(p.Silent))
	count("silent_connections_shed_total", "Silent connections that were closed to make room.", float64(p.Shed))

	h := s.Hub()
	gauge("live_sessions", "Live connections.", float64(h.Sessions))
	gauge("live_slow_sessions", "Live connections that are behind.", float64(h.Slow))
	count("live_attached_total", "Live connections since the start.", float64(h.Attached))
	count("live_deliveries_total", "Frames written to connections.", float64(h.Deliveries))
	count("live_private_total", "Private payloads written: acks, errors, signals.", float64(h.Private))
	count("live_bytes_total", "Bytes written.", float64(h.Bytes))
	count("live_writes_total", "Writes to sockets.", float64(h.Writes))
	count("live_short_writes_total", "Writes that a socket did not accept completely.", float64(h.ShortWrites))
	count("live_messages_total", "Messages received.", float64(h.Messages))
	count("live_limited_total", "Messages above the rate limit.", float64(h.Limited))
	count("live_missed_transients_total", "Transient frames that slow connections missed.", float64(h.MissedTransients))
	count("live_overflows_total", "Private queues that were full.", float64(h.Overflows))
	count("live_signals_refused_total", "Signals refused because a queue was full.", float64(h.SignalsRefused))
	count("live_replays_total", "Returning connections that were sent the frames after their position.", float64(h.Replays))
	for i, n := range h.Resyncs {
		count("live_resyncs_total", "Connections that had to read the state again, by reason.", float64(n), "reason", live.Resync(i).String())
	}
	for i, n := range h.Closes {
		count("live_closes_total", "Connections closed, by reason.", float64(n), "reason", live.Reason(i).String())
	}
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
