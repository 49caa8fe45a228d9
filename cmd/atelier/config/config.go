// Package config is the server's configuration: one struct with its documentation in field tags.
// The shipped config.toml is generated from the struct. The file overrides the defaults, the
// environment overrides the file, and flags override the environment.
package config

//go:generate go test . -run TestShippedFileIsTheDefaults -update

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net"
	"net/netip"
	"net/url"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// Config contains all settings. The doc tag of a field is its comment in config.toml.
type Config struct {
	Server  Server  `toml:"server" doc:"Listeners and public addresses of the server."`
	Admin   Admin   `toml:"admin" doc:"The owner's account. ADMIN_ID and ADMIN_PW in the environment override it."`
	Session Session `toml:"session" doc:"Browser cookies."`
	Login   Login   `toml:"login" doc:"Sign-in of facilitators and assistants other than the owner."`
	Limits  Limits  `toml:"limits" doc:"Rate limits as token buckets; beyond a limit, clients get 429 with Retry-After. 0 disables a limit."`
	Web     Web     `toml:"web" doc:"The browser app."`
	Live    Live    `toml:"live" doc:"WebSocket and SSE connections."`
	Storage Storage `toml:"storage" doc:"The store of events and records."`
	Cluster Cluster `toml:"cluster" doc:"Several servers that share one database; the handbook of a server has the guide, at /help/cluster."`
	Files   Files   `toml:"files" doc:"Uploads, materials and submissions, and code."`
	Audit   Audit   `toml:"audit" doc:"The audit trail."`

	Retention Retention `toml:"retention" doc:"Automatic deletion of codelabs."`

	Webhooks Webhooks `toml:"webhooks" doc:"Events for other systems; the owner creates webhooks with POST /api/admin/webhooks."`
	Log      Log      `toml:"log" doc:"Logging, to standard error."`
	AI       AI       `toml:"ai" doc:"The language model behind /api/ai/stream. Its key is set with POST /api/admin/settings."`

	Handler  Handler  `toml:"handler" doc:"The tokenization handler at /handler and /sandbox/handler."`
	Commerce Commerce `toml:"commerce" doc:"The business profile at /.well-known/commerce, and the schemas under /schemas/."`
}

// Server is the configuration section of listeners and addresses.
type Server struct {
	Listen          string   `toml:"listen" doc:"Address of the public listener; port 0 picks a free one."`
	InternalListen  string   `toml:"internal_listen" doc:"Address for /livez, /readyz, /metrics and pprof. Keep it private. Empty: none."`
	Data            string   `toml:"data" doc:"Folder of all data; the server creates it if it is missing."`
	PublicURL       string   `toml:"public_url" doc:"Public address of the server, for example https://workshop.example.org. If it has a path, as in https://example.org/workshops, the proxy can keep or strip the path. Empty: the address of each request."`
	Mode            string   `toml:"mode" one:"backend|serverless" doc:"Rule for deleting an inline comment: \"backend\" (author or admin) or \"serverless\" (author only)."`
	TLSCert         string   `toml:"tls_cert" doc:"Certificate file (PEM) to serve TLS without a proxy; needs tls_key."`
	TLSKey          string   `toml:"tls_key" doc:"Key file (PEM) of tls_cert."`
	TrustedProxies  []string `toml:"trusted_proxies" doc:"Networks (CIDR) of proxies whose X-Forwarded-For is trusted; set public_url too."`
	AllowedOrigins  []string `toml:"allowed_origins" doc:"Other origins whose pages can call the interface and open a WebSocket. Same-site origins (https://app.example.org for https://workshop.example.org) use cookies, others a bearer token."`
	MaxConnections  int      `toml:"max_connections" min:"1" doc:"Maximum number of connections with a request in progress."`
	ShutdownDelay   Duration `toml:"shutdown_delay" min:"0s" doc:"Time between /readyz reporting 503 and the closing of the listener, so that balancers notice."`
	DrainTimeout    Duration `toml:"drain_timeout" min:"10ms" doc:"Maximum duration of a shutdown after SIGTERM."`
	ReconnectSpread Duration `toml:"reconnect_spread" min:"0s" doc:"After a shutdown, clients reconnect at a random moment within this time."`
}

// Admin is the configuration section of the owner's account.
type Admin struct {
	ID       string `toml:"id" doc:"Login name of the owner."`
	Password Secret `toml:"password" doc:"Password of the owner. Empty: the first start generates one and keeps it in the data folder."`
}

// Session is the configuration section of session cookies.
type Session struct {
	Key              Secret   `toml:"key" doc:"Secret that signs session cookies, at least 32 characters. Empty: the first start generates one and keeps it in the data folder."`
	AdminLifetime    Duration `toml:"admin_lifetime" min:"1s" doc:"Lifetime of a facilitator's session, a working day by default."`
	AttendeeLifetime Duration `toml:"attendee_lifetime" min:"1s" doc:"Lifetime of an attendee's session in a browser, longer than a day's workshop by default."`
}

// Limits is the configuration section of rate limits, which are token buckets.
type Limits struct {
	LoginFailures       int      `toml:"login_failures" min:"0" doc:"Failed logins per address (IPv6: /64 network) and account within login_window. A browser with an earlier login has its own bucket, so others cannot lock it out."`
	LoginWindow         Duration `toml:"login_window" min:"1s" doc:"Window of login_failures."`
	PINFailures         int      `toml:"pin_failures" min:"0" doc:"Wrong rejoin codes per codelab and name within pin_window."`
	PINWindow           Duration `toml:"pin_window" min:"1s" doc:"Window of pin_failures."`
	RegistrationsPerSec int      `toml:"registrations_per_second" min:"0" doc:"Registrations per codelab and second."`
	RegistrationBurst   int      `toml:"registration_burst" min:"0" doc:"Burst of registrations per codelab; the default admits a full hall."`
	RegistrationsFrom   int      `toml:"registrations_per_second_per_address" min:"0" doc:"Registrations per address (IPv6: /64 network) and second."`
	RegistrationsAtOnce int      `toml:"registration_burst_per_address" min:"0" doc:"Burst of registrations per address; a whole room can share one address."`
	JoinsFrom           int      `toml:"joins_per_second_per_address" min:"0" doc:"Join code look-ups per address and second."`
	JoinsAtOnce         int      `toml:"join_burst_per_address" min:"0" doc:"Burst of join code look-ups per address."`
	WritesPerMinute     int      `toml:"writes_per_minute" min:"0" doc:"Writes per session and minute; per address without a session."`
	UploadsPerMinute    int      `toml:"uploads_per_minute" min:"0" doc:"Uploads per session and minute."`
	ImagesPerDay        int      `toml:"images_per_day" min:"0" doc:"Images per attendee and day; facilitators have no limit."`
	ReadsPerMinute      int      `toml:"reads_per_minute" min:"0" doc:"Reads per session and minute; per address without a session."`
	QuestionsSeconds    int      `toml:"questions_seconds" min:"0" doc:"Seconds between two questions of an attendee to the room."`
	ChecksPerMinute     int      `toml:"checks_per_minute" min:"0" doc:"Check reports per person and minute."`
	GitPerMinute        int      `toml:"git_per_minute" min:"0" doc:"Git requests per person and minute; a clone needs two."`
	MessagesPerSecond   int      `toml:"messages_per_second" min:"0" doc:"WebSocket messages per connection and second."`
	AIPerMinute         int      `toml:"ai_per_minute" min:"0" doc:"Questions to the AI per person and minute."`
	MessageBurst        int      `toml:"message_burst" min:"0" doc:"Burst of WebSocket messages per connection. 0: twice messages_per_second."`
	BodyMemoryMiB       int      `toml:"body_memory_mib" min:"0" doc:"Maximum memory for request bodies that are being read, in MiB, without file uploads; beyond that, requests get 503."`
	SocketsPerPerson    int      `toml:"sockets_per_person" min:"0" doc:"Maximum number of live connections per attendee and codelab; a facilitator's session has eight times as many. A further connection closes the oldest with 4008."`
}

// These are the backends of Storage.
const (
	Badger   = "badger"
	Postgres = "postgres"
	Memory   = "memory"
)

// Storage is the configuration section of the store.
type Storage struct {
	Backend        string   `toml:"backend" one:"badger|postgres|memory" doc:"Kind of store, one of \"badger\" (files in the data folder), \"postgres\" (a PostgreSQL database), or \"memory\" (for trials: the data is lost when the process ends)."`
	Postgres       Secret   `toml:"postgres" doc:"Database address for backend \"postgres\", for example postgres://user:password@host:5432/db?sslmode=verify-full. Files and workspaces stay in the data folder unless files.store is set."`
	MinFreeMiB     int      `toml:"min_free_mib" min:"0" doc:"Minimum free disk, in MiB; below it the server is read-only and writes get 503."`
	MemtableMiB    int      `toml:"memtable_mib" min:"1" doc:"Size of Badger's memtable, in MiB. Under a flood of writes the server uses 650 MiB of memory with 8, 830 MiB with 16, and 1,050 MiB with 32."`
	BlockCacheMiB  int      `toml:"block_cache_mib" min:"1" doc:"Size of Badger's block cache, in MiB."`
	QueueMiB       int      `toml:"queue_mib" min:"1" doc:"Maximum bytes queued for the disk, in MiB; beyond that, writes get 503."`
	SnapshotEvents int      `toml:"snapshot_events" min:"1" doc:"Number of events after which a codelab writes a snapshot; more events make restarts slower."`
	IdleAfter      Duration `toml:"idle_after" min:"1s" doc:"Time without use after which a codelab leaves memory."`
}

// Audit is the configuration section of the audit trail.
type Audit struct {
	RetentionDays int `toml:"retention_days" min:"1" doc:"Retention of audit records, in days."`
}

// Retention is the configuration section of automatic codelab deletion.
type Retention struct {
	CodelabsDays int `toml:"codelabs_days" min:"0" max:"36500" doc:"Days after the end of a workshop until its codelab is deleted with its people, their work and certificates. The deletion is announced at least 14 days before. 0: never."`
}

// Webhooks is the configuration section of webhooks, which send events to other systems.
type Webhooks struct {
	AllowPrivate bool `toml:"allow_private" doc:"Allow webhooks to private, loopback and link-local addresses. The owner can then send requests to every machine that this server reaches."`
}

// Log is the configuration section of logging.
type Log struct {
	Level  string `toml:"level" one:"debug|info|warn|error" doc:"Lowest level that is logged: debug, info, warn or error."`
	Format string `toml:"format" one:"text|json" doc:"Format of log lines: text or json."`
	Access bool   `toml:"access" doc:"Log a line per request, without query strings and without path segments that can contain secrets."`
}

// Default returns the default configuration.
func Default() Config {
	return Config{
		Server: Server{
			Listen: "127.0.0.1:8080", InternalListen: "127.0.0.1:9090", Data: "data", Mode: "backend",
			TrustedProxies: []string{}, AllowedOrigins: []string{}, MaxConnections: 65536,
			DrainTimeout: Duration(30 * time.Second), ReconnectSpread: Duration(5 * time.Second),
		},
		Admin:   Admin{ID: "admin"},
		Session: Session{AdminLifetime: Duration(8 * time.Hour), AttendeeLifetime: Duration(12 * time.Hour)},
		Login:   defaultLogin(),
		Limits: Limits{
			LoginFailures: 20, LoginWindow: Duration(5 * time.Minute), PINFailures: 10, PINWindow: Duration(10 * time.Minute),
			RegistrationsPerSec: 200, RegistrationBurst: 2000, RegistrationsFrom: 50, RegistrationsAtOnce: 1000, JoinsFrom: 50, JoinsAtOnce: 1000, WritesPerMinute: 600, UploadsPerMinute: 60, ImagesPerDay: 200, ReadsPerMinute: 60000,
			QuestionsSeconds: 10, ChecksPerMinute: 30, GitPerMinute: 60, MessagesPerSecond: 20, MessageBurst: 40, AIPerMinute: 30, BodyMemoryMiB: 128, SocketsPerPerson: 8,
		},
		Live: defaultLive(), Cluster: defaultCluster(),
		Storage: Storage{
			Backend: Badger, MinFreeMiB: 512, MemtableMiB: 16, BlockCacheMiB: 32, QueueMiB: 64, SnapshotEvents: 20000,
			IdleAfter: Duration(15 * time.Minute),
		},
		Web:     Web{Embed: []string{}, FrameAncestors: []string{}},
		Files:   Files{Grace: Duration(24 * time.Hour)},
		Audit:   Audit{RetentionDays: 180},
		Log:     Log{Level: "info", Format: "text"},
		AI:      defaultAI(),
		Handler: defaultHandler(),
		Commerce: Commerce{
			SupportedVersions: []string{}, Services: []CommerceService{}, Capabilities: []CommerceCapability{}, PaymentHandlers: []CommerceHandler{},
		},
	}
}

// Load reads the file, unless its name is "", and overrides it with the environment. Unknown keys
// in the file or in ATELIER_ variables are errors. In a cluster, an empty cluster.node becomes a
// name from the host name.
func Load(path string, environ []string) (Config, error) {
	c := Default()
	if path != "" {
		b, err := os.ReadFile(path)
		if err != nil {
			return c, fmt.Errorf("read configuration: %w", err)
		}
		if err := decode(b, &c); err != nil {
			return c, fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := applyEnvironment(&c, environ); err != nil {
		return c, err
	}
	if c.Cluster.Enabled && c.Cluster.Node == "" {
		c.Cluster.Node = machine()
	}
	return c, nil
}

func decode(b []byte, c *Config) error {
	if err := checkUnits(b); err != nil {
		return err
	}
	err := toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields().Decode(c)
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) {
		var all []error
		for _, e := range strict.Errors {
			row, _ := e.Position()
			all = append(all, fmt.Errorf("line %d: unknown key %s", row, strings.Join(e.Key(), ".")))
		}
		return errors.Join(all...)
	}
	var bad *toml.DecodeError
	if errors.As(err, &bad) {
		return mistake(bad)
	}
	return err
}

// checkUnits refuses durations without a unit, because the TOML library would read 30 as 30
// nanoseconds.
func checkUnits(b []byte) error {
	// This struct has the same sections, but only the durations, as texts.
	var sections []reflect.StructField
	for s := range fields(reflect.TypeFor[Config]()) {
		var spans []reflect.StructField
		for f := range fields(s.Type) {
			if f.Type == reflect.TypeFor[Duration]() {
				f.Type = reflect.TypeFor[string]()
				spans = append(spans, f)
			}
		}
		s.Type = reflect.StructOf(spans)
		sections = append(sections, s)
	}
	err := toml.Unmarshal(b, reflect.New(reflect.StructOf(sections)).Interface())
	var bad *toml.DecodeError
	if !errors.As(err, &bad) || len(bad.Key()) != 2 {
		return nil // decoding the whole file reports other errors
	}
	row, _ := bad.Position()
	return fmt.Errorf("line %d: %s is a duration and needs a unit, like \"30s\", \"5m\" or \"8h\"", row, strings.Join(bad.Key(), "."))
}

func fields(t reflect.Type) iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

const envPrefix = "ATELIER_"

func applyEnvironment(c *Config, environ []string) error {
	fields := map[string]reflect.Value{}
	eachField(reflect.ValueOf(c).Elem(), func(section, key string, v reflect.Value, _ reflect.StructField) {
		fields[envPrefix+strings.ToUpper(section+"_"+key)] = v
	})
	var errs []error
	var adminID, adminPW string
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == "ADMIN_ID" && value != "":
			adminID = value
		case name == "ADMIN_PW" && value != "":
			adminPW = value
		case strings.HasPrefix(name, envPrefix):
			v, ok := fields[name]
			if !ok {
				errs = append(errs, fmt.Errorf("environment: unknown key %s", name))
			} else if err := setText(v, value); err != nil {
				errs = append(errs, fmt.Errorf("environment: %s: %w", name, err))
			}
		}
	}
	// ADMIN_ID and ADMIN_PW override ATELIER_ADMIN_ID and ATELIER_ADMIN_PASSWORD.
	if adminID != "" {
		c.Admin.ID = adminID
	}
	if adminPW != "" {
		c.Admin.Password = Secret(adminPW)
	}
	return errors.Join(errs...)
}

func eachField(v reflect.Value, fn func(section, key string, v reflect.Value, f reflect.StructField)) {
	for i := range v.NumField() {
		section := v.Type().Field(i)
		for j := range section.Type.NumField() {
			f := section.Type.Field(j)
			fn(section.Tag.Get("toml"), f.Tag.Get("toml"), v.Field(i).Field(j), f)
		}
	}
}

func setText(v reflect.Value, text string) error {
	switch p := v.Addr().Interface().(type) {
	case *string:
		*p = text
	case *Secret:
		*p = Secret(text)
	case *int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return errors.New("not a whole number")
		}
		*p = n
	case *bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return errors.New("not true or false")
		}
		*p = b
	case *Duration:
		return p.UnmarshalText([]byte(text))
	case *[]string:
		*p = []string{}
		for s := range strings.SplitSeq(text, ",") {
			if s = strings.TrimSpace(s); s != "" {
				*p = append(*p, s)
			}
		}
	default: // lists of tables
		dec := json.NewDecoder(strings.NewReader(text))
		dec.DisallowUnknownFields()
		var wrong *json.UnmarshalTypeError
		switch err := dec.Decode(p); {
		case errors.As(err, &wrong):
			return fmt.Errorf("not a JSON array of tables: %s cannot be %s", cmp.Or(wrong.Field, "the value"), wrong.Value)
		case err != nil:
			return fmt.Errorf("not a JSON array of tables: %w", err)
		}
		if _, err := dec.Token(); err != io.EOF {
			return errors.New("not a JSON array of tables: there is text after it")
		}
	}
	return nil
}

// Check returns errors, and warnings about settings that are allowed but dangerous.
func (c *Config) Check() (warnings []string, err error) {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	if c.Webhooks.AllowPrivate {
		warn("webhooks.allow_private lets webhooks send requests to everything that this server reaches in your own network")
	}
	c.checkBounds(bad)
	c.Server.check(bad, warn)
	c.Web.check(c.Server.PublicURL, bad)
	c.Live.check(bad, warn)
	c.checkCluster(bad, warn)
	c.checkSecrets(bad, warn)
	if n := c.Limits.BodyMemoryMiB; n > 0 && n < minBodyMemoryMiB {
		bad("limits.body_memory_mib must be 0 or at least %d: the steps of a codelab can take 32 MiB", minBodyMemoryMiB)
	}
	c.Files.check(bad, warn)
	c.Storage.check(bad, warn)
	c.AI.check(bad, warn)
	c.Login.check(c.Server.PublicURL, bad, warn)
	c.Handler.check(bad, warn)
	return warnings, errors.Join(errs...)
}

// check checks addresses, certificates, proxies and the data folder.
func (s *Server) check(bad, warn func(string, ...any)) {
	host, err := checkAddress(s.Listen)
	if err != nil {
		bad("server.listen: %v", err)
	}
	if s.InternalListen != "" {
		inner, err := checkAddress(s.InternalListen)
		if err != nil {
			bad("server.internal_listen: %v", err)
		} else if !loopback(inner) {
			warn("server.internal_listen %s is not on loopback: everybody who can reach it can read metrics and profiles", s.InternalListen)
		}
	}
	public := s.checkPublicURL(bad)
	if s.TLSCert == "" && !public && !loopback(host) {
		warn("server.listen %s is open to the network without TLS, and public_url is not https: cookies travel in the clear", s.Listen)
	}
	if (s.TLSCert == "") != (s.TLSKey == "") {
		bad("server.tls_cert and server.tls_key must be set together")
	}
	for _, f := range []string{s.TLSCert, s.TLSKey} {
		if _, err := os.Stat(f); f != "" && errors.Is(err, fs.ErrNotExist) {
			bad("server: %s does not exist", f)
		}
	}
	for _, p := range s.TrustedProxies {
		if n, err := netip.ParsePrefix(p); err != nil {
			bad("server.trusted_proxies: %q is not a network like 10.0.0.0/8", p)
		} else if n.Bits() == 0 {
			warn("server.trusted_proxies %s trusts the X-Forwarded-For of everybody", p)
		}
	}
	if public && s.TLSCert == "" && len(s.TrustedProxies) == 0 {
		warn("server.public_url is https and this server serves plain HTTP, so a proxy is in front of it, but server.trusted_proxies is empty: everybody has the proxy's address and shares its rate limits")
	}
	for _, o := range s.AllowedOrigins {
		u, err := url.Parse(o)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Path+u.RawQuery+u.Fragment != "" || u.User != nil {
			bad("server.allowed_origins: %q is not an origin like https://example.org", o)
		}
	}
	if s.Data == "" {
		bad("server.data is required")
	}
}

// checkPublicURL checks the public address, and reports whether it is https.
func (s *Server) checkPublicURL(bad func(string, ...any)) (secure bool) {
	if s.PublicURL == "" {
		return false
	}
	u, err := url.Parse(s.PublicURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		bad("server.public_url must be http:// or https:// and a host")
		return false
	}
	checkPrefix(u, bad)
	return u.Scheme == "https"
}

// checkSecrets checks the owner's account, the session key and the limit of failed logins.
func (c *Config) checkSecrets(bad, warn func(string, ...any)) {
	if strings.TrimSpace(c.Admin.ID) == "" {
		bad("admin.id is required")
	}
	if n := len(c.Admin.Password); n > 0 && n < 8 {
		warn("admin.password is short")
	}
	if n := len(c.Session.Key); n > 0 && n < 32 {
		bad("session.key needs at least 32 characters")
	}
	if c.Limits.LoginFailures == 0 {
		warn("limits.login_failures is 0: passwords can be guessed without limit")
	}
}

func (s *Storage) check(bad, warn func(string, ...any)) {
	switch s.Backend {
	case Postgres:
		checkPostgres(s.Postgres, bad, warn)
	case Memory:
		warn("storage.backend is memory: all data is lost when the server ends")
	}
	if s.MinFreeMiB < 64 {
		warn("storage.min_free_mib is low: if the disk fills up, the server fails instead of becoming read-only")
	}
}

// minBodyMemoryMiB is the minimum of limits.body_memory_mib, except 0, in MiB. The largest body has
// 32 MiB. While its buffer grows, a copy of half that size is also in memory.
const minBodyMemoryMiB = 64

// checkPostgres checks a database address. Its errors do not reveal the address.
func checkPostgres(address Secret, bad, warn func(string, ...any)) {
	u, err := url.Parse(string(address))
	switch {
	case address == "":
		bad("storage.postgres is required with storage.backend postgres")
	case err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql":
		bad("storage.postgres is not an address like postgres://user@host:5432/db")
	default:
		mode := u.Query().Get("sslmode")
		if host := cmp.Or(u.Query().Get("host"), u.Hostname()); host != "" && !strings.HasPrefix(host, "/") && !loopback(host) && mode != "verify-full" && mode != "verify-ca" && mode != "require" {
			warn("storage.postgres: the database is on another machine and sslmode is not verify-full, so the data can travel in the clear")
		}
	}
}

// checkAddress checks a host and port to listen on and returns the host.
func checkAddress(addr string) (host string, err error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("%q is not an address like 127.0.0.1:8080", addr)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return "", fmt.Errorf("%q is not a port: give 0 to 65535", port)
	}
	return host, nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
