package rest

// Health is the state of the server, for its owner. If a disk or another node does not
// answer, its entry has no ok, and null as figures.
type Health struct {
	People PeopleHealth `json:"people"`
	Queue  QueueHealth  `json:"queue"`
	Commit CommitHealth `json:"commit"`
	Disk   DiskHealth   `json:"disk"`
	Backup BackupHealth `json:"backup"`
	// Certificate is nil for a server that has none.
	Certificate *CertificateHealth `json:"certificate"`
	// Nodes is nil for a server that stands alone.
	Nodes *NodesHealth `json:"nodes"`
}

// Verdict is what is said of a part.
type Verdict struct {
	// OK is nil where it is not known.
	OK *bool `json:"ok"`
	// Text says how it is, and Remedy what to do where it is not well.
	Text   string `json:"text"`
	Remedy string `json:"remedy"`
}

// PeopleHealth counts who is connected.
type PeopleHealth struct {
	Verdict
	// Here counts the persons on this node, All those on all nodes; nil while a node
	// does not answer.
	Here int  `json:"here"`
	All  *int `json:"all"`
	// Sockets counts the live connections of this node.
	Sockets int64 `json:"sockets"`
}

// Times say how long something took in the last minutes; the quantiles are nil where
// there was nothing.
type Times struct {
	P50Millis *float64 `json:"p50_ms"`
	P99Millis *float64 `json:"p99_ms"`
	// WindowSeconds is how far they look back.
	WindowSeconds int `json:"window_seconds"`
}

// QueueHealth is how long commands wait for their turn.
type QueueHealth struct {
	Verdict
	Times
	// P99BoundMillis is what is worrying.
	P99BoundMillis float64 `json:"p99_bound_ms"`
	// WaitingBytes wait for the disk now.
	WaitingBytes int64 `json:"waiting_bytes"`
}

// CommitHealth is how long a group commit takes, disk included.
type CommitHealth struct {
	Verdict
	Times
	P50BoundMillis float64 `json:"p50_bound_ms"`
	P99BoundMillis float64 `json:"p99_bound_ms"`
}

// DiskHealth is of the disk under the data folder, bytes.
type DiskHealth struct {
	Verdict
	Free  *uint64 `json:"free_bytes"`
	Total *uint64 `json:"total_bytes"`
	// Data is what the folder takes, as it was looked at some minutes ago at most; nil
	// before it was.
	Data *uint64 `json:"data_bytes"`
}

// BackupHealth is of the last backup of this data folder; nil where none was made.
type BackupHealth struct {
	Verdict
	At         *string `json:"at"`
	AgeSeconds *int64  `json:"age_seconds"`
}

// CertificateHealth is of the certificate that the server itself shows.
type CertificateHealth struct {
	Verdict
	NotAfter *string `json:"not_after"`
	// DaysLeft are whole ones; below 0 when it has ended.
	DaysLeft *int `json:"days_left"`
}

// NodesHealth is of all nodes, as this one sees them.
type NodesHealth struct {
	Verdict
	// Node is this one.
	Node string `json:"node"`
	// List is nil where it is not known.
	List []NodeHealth `json:"list"`
}

// NodeHealth is one node.
type NodeHealth struct {
	Node string `json:"node"`
	// State is "alive", "drained", "stopped" or "dead".
	State            string  `json:"state"`
	Alive            bool    `json:"alive"`
	Stopped          bool    `json:"stopped"`
	LeaseLeftSeconds float64 `json:"lease_left_seconds"`
	Since            string  `json:"since"`
	Program          string  `json:"program"`
	Protocol         int     `json:"protocol"`
	Owns             int     `json:"owns"`
	// Load is the records that it commits a second and the people who are connected to it,
	// added; nil where it has not said so.
	Load    *float64 `json:"load"`
	Reached string   `json:"reached"`
	// Writable is whether it can write its own data folder, and ClockOffsetMillis the
	// database's time minus its own; nil where it has not said so.
	Writable          *bool  `json:"writable"`
	ClockOffsetMillis *int64 `json:"clock_offset_ms"`
}

func getHealth(r *Request) error { return r.JSON(r.api.Health()) }
