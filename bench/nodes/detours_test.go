//go:build linux

package nodes

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestMain can act as another process that has a connection.
func TestMain(m *testing.M) {
	if address := os.Getenv("ATELIER_BENCH_DIAL"); address != "" {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			os.Exit(1)
		}
		_, _ = os.Stdout.WriteString("connected\n")
		_, _ = os.Stdin.Read(make([]byte, 1)) // until the test ends
		_ = conn.Close()
		return
	}
	os.Exit(m.Run())
}

// A cut does not affect a connection that bypasses the proxies, so Cut must return an error. An
// earlier version reported such faults as survived although they had not happened.
func TestACutFailsIfAConnectionBypassesTheProxies(t *testing.T) {
	n, err := newNetwork([]string{echo(t), echo(t)}, echo(t))
	if err != nil {
		t.Fatal(err)
	}
	defer n.close()
	const comes = time.Minute
	through := dial(t, n.address(1, 2))
	if !echoes(t, through, comes) {
		t.Fatal("the proxy is silent")
	}
	heal, err := n.Cut("1-2", Both)
	if err != nil {
		t.Fatalf("with connections through the proxies only: %v", err)
	}
	if err := heal(); err != nil {
		t.Fatal(err)
	}
	direct := func() (end func()) {
		t.Helper()
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "ATELIER_BENCH_DIAL="+n.proxies[link{1, 2}].Upstream)
		in, err := child.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		if b := make([]byte, 10); true {
			if _, err := out.Read(b); err != nil {
				t.Fatal(err)
			}
		}
		return func() { _ = in.Close(); _ = child.Wait() }
	}
	end := direct()
	if _, err := n.Cut("1-2", Both); err == nil || !strings.Contains(err.Error(), "to node 2") {
		t.Errorf("with a connection that bypasses the proxies: %v", err)
	}
	end()
	heal, err = n.Cut("1-2", Both)
	if err != nil {
		t.Fatalf("after that connection ended: %v", err)
	}
	defer direct()()
	if err := heal(); err == nil || !strings.Contains(err.Error(), "to node 2") {
		t.Errorf("with a connection opened during the cut: %v", err)
	}
	if !echoes(t, dial(t, n.address(1, 2)), comes) {
		t.Error("the cut was not healed")
	}
}

func TestTheConnectionTablesOfTheKernelAreRead(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 100 1 0 100 0 0 10 0
   1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 200 1 0 20 4 30 10 -1
   2: 0000000000000000FFFF00000100007F:C351 0000000000000000FFFF00000100007F:1F90 01 0:0 0:0 0 0 0 300 1
`
	got := connections(table)
	if len(got) != 2 || got[0].local.String() != "127.0.0.1:50000" || got[0].remote.String() != "127.0.0.1:8080" || got[0].inode != "200" || got[1].remote != got[0].remote {
		t.Errorf("the connections are %+v", got)
	}
	for _, s := range []string{"", ":", "01:1", "0100007F:XYZ", "0100007G:0001"} {
		if a, ok := kernelAddress(s); ok {
			t.Errorf("%q is parsed as %v", s, a)
		}
	}
}
