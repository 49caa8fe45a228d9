package rest

// Health is the state of the server, for its owner. If a disk or another node does not respond, the
// ok of its entry and its figures are null.
type Health struct {
	People      PeopleHealth       `json:"people"`
	Queue       QueueHealth        `json:"queue"`
	Commit      CommitHealth       `json:"commit"`
	Disk        DiskHealth         `json:"disk"`
	Backup      BackupHealth       `json:"backup"`
	Certificate *CertificateHealth `json:"certificate" doc:"null for a server without its own certificate; a proxy in front of it can have one."`
	Nodes       *NodesHealth       `json:"nodes" doc:"null on a single server."`
}

// Verdict states whether one part of the server works.
type Verdict struct {
	OK     *bool  `json:"ok" doc:"Whether this part works. Null if unknown."`
	Text   string `json:"text" doc:"The state, in English."`
	Remedy string `json:"remedy" doc:"What to do, in English. \"\" if nothing is to be done."`
}

// PeopleHealth counts connected people.
type PeopleHealth struct {
	Verdict
	Here    int   `json:"here" doc:"The number of people connected to this node. A person in two codelabs counts twice."`
	All     *int  `json:"all" doc:"The number on all nodes, as of the last seconds. Null while a node does not respond. On a single server the same as «here»."`
	Sockets int64 `json:"sockets" doc:"Live connections of this node."`
}

// Times summarizes durations in the last minutes. The quantiles are nil if there is no sample.
type Times struct {
	P50Millis     *float64 `json:"p50_ms" range:"0.." doc:"The median, at most a tenth too high. Null if nothing was measured."`
	P99Millis     *float64 `json:"p99_ms" range:"0.." doc:"The 99th percentile."`
	WindowSeconds int      `json:"window_seconds" range:"1.." doc:"The period of the measurement."`
}

// QueueHealth describes how long commands wait in the queue.
type QueueHealth struct {
	Verdict
	Times
	P99BoundMillis float64 `json:"p99_bound_ms" range:"0.." doc:"A higher «p99_ms» indicates a problem."`
	WaitingBytes   int64   `json:"waiting_bytes" doc:"The amount that waits for the disk."`
}

// CommitHealth is the duration of a group commit, including the disk.
type CommitHealth struct {
	Verdict
	Times
	P50BoundMillis float64 `json:"p50_bound_ms" range:"0.." doc:"A higher «p50_ms» indicates a problem."`
	P99BoundMillis float64 `json:"p99_bound_ms" range:"0.." doc:"A higher «p99_ms» indicates a problem."`
}

// DiskHealth describes the disk of the data folder, in bytes.
type DiskHealth struct {
	Verdict
	Free  *uint64 `json:"free_bytes" doc:"The space that the server can still use."`
	Total *uint64 `json:"total_bytes" doc:"Total size of the disk."`
	Data  *uint64 `json:"data_bytes" doc:"The size of the data folder, measured in the last minutes. Null before the first measurement."`
}

// BackupHealth describes the last backup of this data folder. At and AgeSeconds are nil if no
// backup was made.
type BackupHealth struct {
	Verdict
	At         *string `json:"at" is:"Timestamp" doc:"The time of the backup. Null if there is none."`
	AgeSeconds *int64  `json:"age_seconds" range:"any" doc:"The age. Null if there is no backup."`
}

// CertificateHealth describes the server's own certificate.
type CertificateHealth struct {
	Verdict
	NotAfter *string `json:"not_after" is:"Timestamp" doc:"The end. Null if it is unknown."`
	DaysLeft *int    `json:"days_left" range:"any" doc:"Full days. Negative after the end."`
}

// NodesHealth describes all nodes, as seen by this one.
type NodesHealth struct {
	Verdict
	Node string       `json:"node" doc:"The node that was asked."`
	List []NodeHealth `json:"list" null:"true" doc:"null while the database does not answer."`
}

// NodeHealth is one node.
type NodeHealth struct {
	Node              string   `json:"node" doc:"Its name."`
	State             string   `json:"state" enum:"alive|drained|stopped|dead" doc:"«drained»: alive, but does not serve, as an operator requested. «stopped»: stopped regularly. «dead»: the lease ended without a regular stop."`
	Alive             bool     `json:"alive" doc:"Its lease is valid."`
	Stopped           bool     `json:"stopped" doc:"Its lease ended because it stopped regularly. A node that is neither alive nor stopped has died."`
	LeaseLeftSeconds  float64  `json:"lease_left_seconds" doc:"The remaining time of its lease. Negative after its end."`
	Since             string   `json:"since" is:"Timestamp"`
	Program           string   `json:"program" doc:"Its version."`
	Protocol          int      `json:"protocol" range:"any" doc:"The version of the messages between nodes."`
	Owns              int      `json:"owns" doc:"The number of actors on the node."`
	Load              *float64 `json:"load" doc:"The number of records that it commits per second plus the number of people connected to it. Null if unknown."`
	Reached           string   `json:"reached" doc:"Whether it responds to the node that received this request, in words. \"\" for that node itself, and for nodes that are not alive."`
	Writable          *bool    `json:"writable" doc:"Whether it can write its own data folder. A node that cannot write its folder serves nobody while another node can. Null if unknown."`
	ClockOffsetMillis *int64   `json:"clock_offset_ms" range:"any" doc:"The database's time minus the node's, in milliseconds. Null if unknown."`
}

func getHealth(r *Request) error { return r.JSON(r.api.Health()) }
