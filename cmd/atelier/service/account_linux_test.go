package service

import (
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal opens a terminal: output written to inner can be read from outer.
func terminal(t *testing.T) (outer, inner *os.File) {
	t.Helper()
	outer, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("this machine has no terminals:", err)
	}
	t.Cleanup(func() { _ = outer.Close() })
	n, err := unix.IoctlGetInt(int(outer.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(outer.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		inner, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skip("this machine has no terminals:", err)
	}
	return outer, inner
}

// printed returns everything that print writes to in, as read from out.
func printed(out, in *os.File, print func(*os.File)) string {
	print(in)
	_, _ = in.WriteString("end")
	var all strings.Builder
	one := make([]byte, 1)
	for !strings.HasSuffix(all.String(), "end") {
		if _, err := io.ReadFull(out, one); err != nil {
			break
		}
		all.Write(one)
	}
	_ = in.Close()
	return strings.TrimSuffix(all.String(), "end")
}

// An earlier version printed the password to standard output, so it reached the system's journal.
func TestTheFirstPasswordIsShownOnlyOnATerminal(t *testing.T) {
	made := adminPassword{file: "data/secrets/admin.password", made: "hunter2-hunter2"}
	known := adminPassword{file: made.file}
	show := func(pw adminPassword) func(*os.File) {
		return func(f *os.File) { pw.show(f, "http://x", "admin") }
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got := printed(r, w, show(made)); got != "" {
		t.Errorf("if the output is not a terminal, show prints %q", got)
	}
	outer, inner := terminal(t)
	if got := printed(outer, inner, show(made)); !strings.Contains(got, "hunter2-hunter2") {
		t.Errorf("on a terminal, show prints %q", got)
	}
	outer, inner = terminal(t)
	got := printed(outer, inner, show(known))
	if strings.Contains(got, "hunter2") {
		t.Errorf("for an existing password, show prints %q", got)
	}
	for _, part := range []string{"http://x", "admin", made.file} {
		if !strings.Contains(got, part) {
			t.Errorf("for an existing password, show does not print %q: %q", part, got)
		}
	}
}
