// Package doctor verifies that a server is ready for a workshop: the machine, the path from a
// browser to the server, and the last backup. The finding of a problem contains a remedy, if one is
// known. The examination removes its file for timing the disk, and ends its logins and sockets. Only
// the records of these logins stay in the audit trail. A running server uses the same functions for
// its status page.
package doctor

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// Options configures an examination.
type Options struct {
	// Data is the data folder.
	Data string
	// MinFree is the disk space that the server keeps free, in bytes.
	MinFree uint64
	// Address is the address at which browsers reach the server; "" if it is not configured.
	Address string
	// Open means that other machines can connect to the server's listener.
	Open bool
	// TLSCert is the certificate file of the server's own listener, or "".
	TLSCert string
	// Metrics is the address of the running server's metrics, or "".
	Metrics string
	// Admin and Password are the owner's login. Without a password, checks that need a login are
	// skipped.
	Admin, Password string
	// People is the expected number of people. This number of connections, but at most maxRoom, is
	// opened through Address.
	People int
	// SocketsPerLogin is the maximum number of sockets per login. 0 means no limit.
	SocketsPerLogin int
	// BackupAge is the maximum age of the last backup.
	BackupAge time.Duration
	// Now returns the time of day.
	Now func() time.Time
}

// Finding is the result of a check.
type Finding struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Text describes the state.
	Text string `json:"text"`
	// Remedy is the advice for a problem or a skipped check, or "" if there is none.
	Remedy string `json:"remedy"`
	// Skipped means that the check was not made, because a precondition was not met. This is not a
	// failure.
	Skipped bool `json:"skipped,omitempty"`
}

func fine(text string, args ...any) Finding {
	return Finding{OK: true, Text: fmt.Sprintf(text, args...)}
}

func bad(remedy, text string, args ...any) Finding {
	return Finding{Text: fmt.Sprintf(text, args...), Remedy: remedy}
}

// checkTimeout is the timeout of each check, except for the disk check. The room has socketTimeout
// more for each socket.
const (
	checkTimeout  = 15 * time.Second
	socketTimeout = 25 * time.Millisecond
)

// Examine makes all checks one after another.
func Examine(ctx context.Context, o Options) []Finding {
	v := &visit{Options: o}
	var all []Finding
	for _, check := range []struct {
		name string
		at   func(context.Context) Finding
	}{
		{"descriptors", v.descriptors},
		{"memory", v.memory},
		{"disk", v.disk},
		{"space", v.space},
		{"clock", v.clock},
		{"backup", v.backup},
		{"address", v.address},
		{"certificate", v.certificate},
		{"app", v.app},
		{"login", v.login},
		{"socket", v.socket},
		{"room", v.room},
	} {
		timeout := checkTimeout
		if check.name == "room" {
			timeout += time.Duration(min(v.People, maxRoom)) * socketTimeout
		}
		ctx, done := context.WithTimeout(ctx, timeout)
		f := check.at(ctx)
		done()
		f.Name = check.name
		all = append(all, f)
	}
	return all
}

// Write writes findings in a form for people.
func Write(w io.Writer, all []Finding) error {
	var b strings.Builder
	for _, f := range all {
		mark := "ok  "
		switch {
		case !f.OK:
			mark = "FAIL"
		case f.Skipped:
			mark = "skip"
		}
		fmt.Fprintf(&b, "%s  %-12s %s\n", mark, f.Name, f.Text)
		if f.Remedy != "" {
			fmt.Fprintf(&b, "      %-12s → %s\n", "", f.Remedy)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
