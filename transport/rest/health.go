package rest

// Health is the state of the server, for its owner. If a disk or another node does not
// answer, its entry has no ok, and null as figures.
type Health struct {
	People      PeopleHealth       `json:"people"`
	Queue       QueueHealth        `json:"queue"`
	Commit      CommitHealth       `json:"commit"`
	Disk        DiskHealth         `json:"disk"`
	Backup      BackupHealth       `json:"backup"`
	Certificate *CertificateHealth `json:"certificate" doc:"null for a server without its own certificate; a proxy in front of it can have one."`
	Nodes       *NodesHealth       `json:"nodes" doc:"null on a single server."`
}

// Verdict is the verdict on a part.
type Verdict struct {
	OK     *bool  `json:"ok" doc:"Whether all is well; null while it is not known."`
	Text   string `json:"text" doc:"How it is, in English."`
	Remedy string `json:"remedy" doc:"What to do, in English; \"\" when there is nothing to do."`
}

// PeopleHealth counts connected people.
type PeopleHealth struct {
	Verdict
	Here    int   `json:"here" doc:"Persons who are connected to this node; somebody in two codelabs counts twice."`
	All     *int  `json:"all" doc:"Those of all nodes, as they said some seconds ago at most; null while a node does not answer. Of one server the same as «here»."`
	Sockets int64 `json:"sockets" doc:"Live connections of this node."`
}

// Times summarizes durations in the last minutes. The quantiles are nil without a sample.
type Times struct {
	P50Millis     *float64 `json:"p50_ms" range:"0.." doc:"What half of them took at most, at most a tenth too high; null where there was none."`
	P99Millis     *float64 `json:"p99_ms" range:"0.." doc:"What all but one in a hundred took at most."`
	WindowSeconds int      `json:"window_seconds" range:"1.." doc:"How far this looks back."`
}

// QueueHealth is how long commands wait in the queue.
type QueueHealth struct {
	Verdict
	Times
	P99BoundMillis float64 `json:"p99_bound_ms" range:"0.." doc:"Above this «p99_ms» is worrying."`
	WaitingBytes   int64   `json:"waiting_bytes" doc:"What waits for the disk now."`
}

// CommitHealth is the duration of a group commit, including the disk.
type CommitHealth struct {
	Verdict
	Times
	P50BoundMillis float64 `json:"p50_bound_ms" range:"0.." doc:"Above this «p50_ms» is worrying."`
	P99BoundMillis float64 `json:"p99_bound_ms" range:"0.." doc:"Above this «p99_ms» is worrying."`
}

// DiskHealth describes the disk of the data folder, in bytes.
type DiskHealth struct {
	Verdict
	Free  *uint64 `json:"free_bytes" doc:"Space that the server can still write."`
	Total *uint64 `json:"total_bytes" doc:"Total size of the disk."`
	Data  *uint64 `json:"data_bytes" doc:"Size of the data folder, at most some minutes old; null before the first measurement."`
}

// BackupHealth describes the last backup of this data folder; nil if none was made.
type BackupHealth struct {
	Verdict
	At         *string `json:"at" is:"Timestamp" doc:"When it was made; null where none was."`
	AgeSeconds *int64  `json:"age_seconds" range:"any" doc:"How long ago; null where none was made."`
}

// CertificateHealth describes the server's own certificate.
type CertificateHealth struct {
	Verdict
	NotAfter *string `json:"not_after" is:"Timestamp" doc:"When it ends; null while it is not known."`
	DaysLeft *int    `json:"days_left" range:"any" doc:"Whole days; below 0 when it has ended."`
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
	State             string   `json:"state" enum:"alive|drained|stopped|dead" doc:"«drained» is alive, but serves nobody, as an operator requested. «stopped» is a regular stop. «dead» is the end of the lease without one."`
	Alive             bool     `json:"alive" doc:"Its lease holds."`
	Stopped           bool     `json:"stopped" doc:"Its lease is over because it stopped in order. A node that is neither has died."`
	LeaseLeftSeconds  float64  `json:"lease_left_seconds" doc:"For how long its lease holds; below 0 since it ended."`
	Since             string   `json:"since" is:"Timestamp"`
	Program           string   `json:"program" doc:"Its version."`
	Protocol          int      `json:"protocol" range:"any" doc:"The version of the messages between nodes."`
	Owns              int      `json:"owns" doc:"The actors that live on it."`
	Load              *float64 `json:"load" doc:"The records that it commits a second and the people who are connected to it, added; null where it has not said so."`
	Reached           string   `json:"reached" doc:"Whether it answers the node that was asked, in words; \"\" for that node, and for those that are not alive."`
	Writable          *bool    `json:"writable" doc:"Whether it can write its own data folder. One that cannot serves nobody while another node can. null where it has not said so."`
	ClockOffsetMillis *int64   `json:"clock_offset_ms" range:"any" doc:"The database's time minus the node's, milliseconds; null where that is not known."`
}

func getHealth(r *Request) error { return r.JSON(r.api.Health()) }
