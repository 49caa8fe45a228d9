package live

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// childEnv makes a re-executed test binary the reading end of a benchmark. Its value is "address
// connections", with "tls" if required. Both ends of 10,000 connections do not fit into the
// 20,000 descriptors of one process.
const childEnv = "ATELIER_LIVE_READERS"

// runChild reads until its standard input ends, and reports whether this process is such a child.
func runChild() bool {
	job := os.Getenv(childEnv)
	if job == "" {
		return false
	}
	if err := readers(job); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	return true
}

func readers(job string) error {
	words := strings.Fields(job)
	addr, secure := words[0], len(words) > 2
	n, err := strconv.Atoi(words[1])
	if err != nil {
		return err
	}
	drain, err := newDrainer()
	if err != nil {
		return err
	}
	for i := range n {
		// Several source addresses provide enough ports for several runs.
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%8))}}
		conn, err := d.Dial("tcp", addr)
		if err != nil {
			return err
		}
		if secure {
			// The drainer ignores the content.
			if err := tls.Client(conn, &tls.Config{InsecureSkipVerify: true}).Handshake(); err != nil {
				return err
			}
		}
		if err := drain.add(conn.(*net.TCPConn)); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	go drain.run()
	_, _ = os.Stdin.Read(make([]byte, 1))
	return nil
}

// connect starts a child and returns the connections that it opens.
func connect(tb testing.TB, n int) []*net.TCPConn {
	tb.Helper()
	conns := make([]*net.TCPConn, n)
	for i, c := range connectAs(tb, n, bare) {
		conns[i] = c.(*net.TCPConn)
	}
	return conns
}

// connectAs does the same as connect, with connections of the given kind.
func connectAs(tb testing.TB, n int, kind wireKind) []net.Conn {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer ln.Close()
	cmd := exec.Command(os.Args[0])
	job := fmt.Sprintf("%s=%s %d", childEnv, ln.Addr(), n)
	if kind != bare {
		ln, job = withTLS(tb, kind)(ln), job+" tls"
	}
	cmd.Env = append(os.Environ(), job)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait()
	})
	conns := make([]net.Conn, n)
	for i := range conns {
		if conns[i], err = ln.Accept(); err != nil {
			tb.Fatal(err)
		}
		if c, ok := conns[i].(*tls.Conn); ok {
			if err := c.Handshake(); err != nil {
				tb.Fatal(err)
			}
		}
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
		tb.Fatalf("the readers are not ready: %s%v", line, err)
	}
	return conns
}
