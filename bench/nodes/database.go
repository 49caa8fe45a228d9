//go:build linux

package nodes

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// databaseWithin is the timeout of a start, a stop and a statement of the database.
const databaseWithin = 30 * time.Second

// ErrNoPostgres means that no PostgreSQL is installed.
var ErrNoPostgres = errors.New("PostgreSQL is not installed: no initdb in PATH or /usr/lib/postgresql (--postgres URL uses a running server)")

// Database is the database of a cluster: on its own server, or a new database on a running one.
type Database struct {
	// admin is the URL of a database that exists already. name is the name of the cluster's own
	// database. Both are immutable.
	admin *url.URL
	name  string

	// If the server was started for this run, dir contains all its files, and bin is the folder of
	// PostgreSQL's programs. Otherwise both are "".
	dir, bin string
	port     int
	cred     *syscall.Credential // nil for the current user
	process  *exec.Cmd
	ended    chan struct{} // closed when process is gone
}

// Programs returns the folder of PostgreSQL's programs. It is the folder of initdb in PATH, or else
// of the newest version in /usr/lib/postgresql.
func Programs() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		// The program in PATH can be a link, but postgres looks for its files next to itself.
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	if len(found) == 0 {
		return "", ErrNoPostgres
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
}

// startDatabase starts a PostgreSQL in a temporary folder, and creates a database.
func startDatabase(ctx context.Context) (*Database, error) {
	bin, err := Programs()
	if err != nil {
		return nil, err
	}
	ports, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "atelier-bench-pg-")
	if err != nil {
		return nil, fmt.Errorf("folder of the database: %w", err)
	}
	d := &Database{
		dir: dir, bin: bin, port: ports[0],
		admin: &url.URL{Scheme: "postgres", User: url.User("postgres"), Host: loopback(ports[0]), Path: "/postgres", RawQuery: "sslmode=disable"},
	}
	if err := d.initialise(ctx); err != nil {
		return nil, errors.Join(err, d.remove())
	}
	return d, nil
}

func (d *Database) initialise(ctx context.Context) error {
	if os.Getuid() == 0 {
		// initdb refuses root.
		var err error
		if d.cred, err = postgres(); err != nil {
			return fmt.Errorf("PostgreSQL does not run as root: %w", err)
		}
		if err := os.Chown(d.dir, int(d.cred.Uid), int(d.cred.Gid)); err != nil {
			return fmt.Errorf("folder of the database: %w", err)
		}
	}
	out, err := d.command("initdb", "-D", d.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	if err := d.start(ctx); err != nil {
		return err
	}
	return d.create(ctx)
}

// useDatabase creates a database on a running server.
func useDatabase(ctx context.Context, address string) (*Database, error) {
	u, err := parseDatabase(address)
	if err != nil {
		return nil, err
	}
	d := &Database{admin: u}
	return d, d.create(ctx)
}

var errDatabase = errors.New("database: want postgres://user@host:port/name")

// parseDatabase parses the URL of a database, with 5432 as the default port. Its error does not
// quote the URL, because it can contain a password.
func parseDatabase(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || u.Hostname() == "" {
		return nil, errDatabase
	}
	if u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), "5432")
	}
	return u, nil
}

// CheckDatabase returns an error for an invalid database URL.
func CheckDatabase(address string) error {
	_, err := parseDatabase(address)
	return err
}

// Address returns the host and port of the server.
func (d *Database) Address() string { return d.admin.Host }

// Own reports whether the server was started for this run.
func (d *Database) Own() bool { return d.dir != "" }

// through returns the URL of the cluster's database, with another host and port of its server.
func (d *Database) through(hostPort string) string {
	u := *d.admin
	u.Host, u.Path = hostPort, "/"+d.name
	return u.String()
}

// create creates a database with a random name, which no other run uses.
func (d *Database) create(ctx context.Context) error {
	d.name = "atelier_bench_" + strings.ToLower(rand.Text()[:10])
	return d.exec(ctx, "create database "+d.name)
}

func (d *Database) exec(ctx context.Context, statement string) error {
	ctx, cancel := context.WithTimeout(ctx, databaseWithin)
	defer cancel()
	conn, err := pgx.Connect(ctx, d.admin.String())
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("database: %w", err)
	}
	return nil
}

// Restart stops the server and starts it again. An orderly stop ends all sessions. After an
// immediate stop, the server recovers from its log.
func (d *Database) Restart(ctx context.Context, immediate bool) error {
	if !d.Own() {
		return errors.New("the run cannot restart the database, because the run did not create it")
	}
	how := syscall.SIGINT
	if immediate {
		how = syscall.SIGQUIT
	}
	if err := d.stop(how); err != nil {
		return err
	}
	return d.start(ctx)
}

func postgres() (*syscall.Credential, error) {
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2)
}

func (d *Database) data() string { return filepath.Join(d.dir, "data") }

func (d *Database) log() string { return filepath.Join(d.dir, "log") }

func (d *Database) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(d.bin, name), args...)
	cmd.Dir = d.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGQUIT, Credential: d.cred}
	return cmd
}

// start starts the server and returns when it accepts connections.
func (d *Database) start(ctx context.Context) error {
	log, err := os.OpenFile(d.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("log of the database: %w", err)
	}
	defer log.Close()
	cmd := d.command("postgres", "-D", d.data(), "-k", d.dir, "-c", "listen_addresses=127.0.0.1", "-p", strconv.Itoa(d.port),
		"-c", "fsync=on", "-c", "synchronous_commit=on", "-c", "max_connections=300")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the database: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	d.process, d.ended = cmd, ended
	ctx, cancel := context.WithTimeout(ctx, databaseWithin)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, d.admin.String())
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ended:
			return fmt.Errorf("the database ended%s", d.tail())
		case <-ctx.Done():
			return fmt.Errorf("start the database: %w%s", err, d.tail())
		case <-tick.C:
		}
	}
}

func (d *Database) stop(signal syscall.Signal) error {
	if d.process == nil {
		return nil
	}
	_ = d.process.Process.Signal(signal)
	timer := time.NewTimer(databaseWithin)
	defer timer.Stop()
	select {
	case <-d.ended:
		d.process = nil
		return nil
	case <-timer.C:
	}
	_ = d.process.Process.Kill()
	<-d.ended
	d.process = nil
	return errors.New("the database did not stop within " + databaseWithin.String())
}

// remove stops the database server that the run started, or drops the run's database on another
// server.
func (d *Database) remove() error {
	if !d.Own() {
		return d.exec(context.Background(), "drop database if exists "+d.name+" with (force)")
	}
	return errors.Join(d.stop(syscall.SIGQUIT), os.RemoveAll(d.dir))
}

func (d *Database) tail() string {
	b, err := os.ReadFile(d.log())
	if err != nil || len(b) == 0 {
		return ""
	}
	return "; its log ends:\n" + string(b[max(0, len(b)-1500):])
}
