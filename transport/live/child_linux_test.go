package live

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// childEnv makes a re-executed test binary the reading end of a benchmark:
// "address connections". Both ends of 10,000 connections do not fit into the
// 20,000 descriptors of one process.
const childEnv = "ATELIER_LIVE_READERS"

// runChild reads until its standard input ends, and reports whether this
// process is such a child.
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
	addr, count, _ := strings.Cut(job, " ")
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	drain, err := newDrainer()
	if err != nil {
		return err
	}
	for i := range n {
		// A few source addresses, so that the ports last for several runs.
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%8))}}
		conn, err := d.Dial("tcp", addr)
		if err != nil {
			return err
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

// connect starts a child and returns the connections it makes.
func connect(tb testing.TB, n int) []*net.TCPConn {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer ln.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", childEnv, ln.Addr(), n))
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
	conns := make([]*net.TCPConn, n)
	for i := range conns {
		c, err := ln.Accept()
		if err != nil {
			tb.Fatal(err)
		}
		conns[i] = c.(*net.TCPConn)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
		tb.Fatalf("readers: %s%v", line, err)
	}
	return conns
}
