//go:build linux

package nodes

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A cut proves nothing if its ends have a connection that bypasses the proxies. The kernel's tables
// list every connection.

// detours returns the connections that lead to a node or the database and do not belong to a proxy:
// "from 127.0.0.1:50000 to node 2".
func (n *Network) detours() ([]string, error) {
	first, err := n.strangers()
	if err != nil || len(first) == 0 {
		return nil, err
	}
	// A proxy can open and close a connection while the tables are read. Only connections that are
	// found twice therefore count.
	again, err := n.strangers()
	return slices.DeleteFunc(again, func(d string) bool { return !slices.Contains(first, d) }), err
}

func (n *Network) strangers() (out []string, err error) {
	own, err := ownSockets()
	if err != nil {
		return nil, err
	}
	var all []connection
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		b, err := os.ReadFile(table)
		if errors.Is(err, fs.ErrNotExist) {
			continue // no IPv6
		}
		if err != nil {
			return nil, fmt.Errorf("look for connections past the proxies: %w", err)
		}
		all = append(all, connections(string(b))...)
	}
	later, err := ownSockets()
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		to, known := n.ends[c.remote]
		if known && !own[c.inode] && !later[c.inode] {
			out = append(out, fmt.Sprintf("from %s to %s", c.local, name(to)))
		}
	}
	return out, nil
}

// ownSockets returns the inodes of this process's sockets.
func ownSockets() (map[string]bool, error) {
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for _, link := range links {
		to, err := os.Readlink(link)
		if err != nil {
			continue // closed meanwhile
		}
		if inode, ok := strings.CutPrefix(to, "socket:["); ok {
			own[strings.TrimSuffix(inode, "]")] = true
		}
	}
	return own, nil
}

// connection is an established connection.
type connection struct {
	local, remote netip.AddrPort
	inode         string
}

// established is the state of a connection in the kernel's tables.
const established = "01"

// connections parses a table of the kernel: a heading, and lines with a number, both addresses and
// the state, and the inode in the tenth column.
func connections(table string) (out []connection) {
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 10 || f[3] != established {
			continue
		}
		local, ok := kernelAddress(f[1])
		remote, also := kernelAddress(f[2])
		if ok && also {
			out = append(out, connection{local, remote, f[9]})
		}
	}
	return out
}

// kernelAddress parses an address as the kernel writes it: words of four bytes in hex, the last
// byte first, and the port.
func kernelAddress(s string) (a netip.AddrPort, ok bool) {
	host, port, ok := strings.Cut(s, ":")
	number, err := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil || len(host)%8 != 0 {
		return a, false
	}
	var b []byte
	for ; host != ""; host = host[8:] {
		word, err := strconv.ParseUint(host[:8], 16, 32)
		if err != nil {
			return a, false
		}
		b = append(b, byte(word), byte(word>>8), byte(word>>16), byte(word>>24))
	}
	ip, ok := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(ip.Unmap(), uint16(number)), ok
}

// endsOf returns a number for each address: a node's number, counted from 1, or 0 for the database.
// It omits addresses that cannot be resolved.
func endsOf(peers []string, db string) map[netip.AddrPort]int {
	ends := map[netip.AddrPort]int{}
	for i, address := range append([]string{db}, peers...) {
		if a, err := net.ResolveTCPAddr("tcp", address); err == nil && a.IP != nil {
			at := a.AddrPort()
			ends[netip.AddrPortFrom(at.Addr().Unmap(), at.Port())] = i
		}
	}
	return ends
}

// proven returns an error if a connection bypasses the proxies.
func (n *Network) proven() error {
	around, err := n.detours()
	if err == nil && len(around) > 0 {
		err = fmt.Errorf("the cut has no effect, because a connection bypasses the proxies: %s", strings.Join(around, "; "))
	}
	return err
}
