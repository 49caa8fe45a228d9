//go:build linux

package server

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// ticksPerSecond is the unit of times in /proc: 100 on every Linux on which Go runs.
const ticksPerSecond = 100

// Usage measures the server. While the server is down, the result contains only the CPU time of its
// earlier processes. Usage is safe for concurrent use.
func (p *Process) Usage() (Usage, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return Usage{CPU: p.spent}, nil
	}
	u, err := usage(p.cmd.Process.Pid)
	u.CPU += p.spent
	return u, err
}

// OfPID returns a function that measures the process with this id.
func OfPID(pid int) func() (Usage, error) { return func() (Usage, error) { return usage(pid) } }

func usage(pid int) (Usage, error) {
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return Usage{}, fmt.Errorf("read the server's usage: %w", err)
	}
	status, err := os.ReadFile(dir + "/status")
	if err != nil {
		return Usage{}, fmt.Errorf("read the server's usage: %w", err)
	}
	return Usage{RSS: kilobytes(status, "VmRSS:"), PeakRSS: kilobytes(status, "VmHWM:"), CPU: ticks(stat)}, nil
}

// ticks reads utime and stime, fields 14 and 15 of /proc/PID/stat. The name in field 2 can
// contain anything, so counting starts after it.
func ticks(stat []byte) time.Duration {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(string(fields[11]))
	system, _ := strconv.Atoi(string(fields[12]))
	return time.Duration(user+system) * time.Second / ticksPerSecond
}

func kilobytes(status []byte, key string) int64 {
	_, rest, _ := bytes.Cut(status, []byte(key))
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(string(fields[0]), 10, 64)
	return n << 10
}
