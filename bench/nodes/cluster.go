//go:build linux

package nodes

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"atelier/bench/server"
)

// Most is the maximum number of nodes of a cluster.
const Most = 9

// Cluster is a group of nodes with their database and their network.
type Cluster struct {
	Processes []*server.Process
	Network   *Network
	Database  *Database

	// files is the folder that all nodes share; "" if the server does not support one.
	files string
}

// Config describes the cluster to start.
type Config struct {
	// Binary is the server's executable. Count is the number of nodes.
	Binary string
	Count  int
	// Postgres is the URL of a server on which to create a database; "" starts a server.
	Postgres string
	// Env contains settings of every node in addition to those of the cluster, as NAME=value.
	Env []string
}

// Start starts everything, and returns when all nodes are ready.
func Start(ctx context.Context, cfg *Config) (*Cluster, error) {
	if cfg.Count < 1 || cfg.Count > Most {
		return nil, fmt.Errorf("nodes: want 1 to %d", Most)
	}
	c := &Cluster{}
	if err := c.start(ctx, cfg); err != nil {
		for _, p := range c.Processes {
			p.Kill()
		}
		return nil, errors.Join(err, c.remove())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context, cfg *Config) error {
	var err error
	if cfg.Postgres != "" {
		c.Database, err = useDatabase(ctx, cfg.Postgres)
	} else {
		c.Database, err = startDatabase(ctx)
	}
	if err != nil {
		return err
	}
	ports, err := freePorts(cfg.Count)
	if err != nil {
		return err
	}
	var listens []string
	for _, port := range ports {
		listens = append(listens, loopback(port))
	}
	if c.Network, err = newNetwork(listens, c.Database.Address()); err != nil {
		return err
	}
	shared := append([]string{"ATELIER_CLUSTER_SECRET=" + rand.Text() + rand.Text()}, cfg.Env...)
	if knows(cfg.Binary, "ATELIER_FILES_STORE=folder:"+os.TempDir()) {
		if c.files, err = os.MkdirTemp("", "atelier-bench-files-"); err != nil {
			return fmt.Errorf("shared folder: %w", err)
		}
		shared = append(shared, "ATELIER_FILES_STORE=folder:"+c.files)
	}
	for i := range cfg.Count {
		p, err := server.New(cfg.Binary)
		if err != nil {
			return err
		}
		p.Env = slices.Concat(shared, c.settings(i+1, listens[i]))
		c.Processes = append(c.Processes, p)
		if i > 0 {
			first := c.Processes[0]
			p.AdminID, p.AdminPW = first.AdminID, first.AdminPW
		}
		if err := p.Start(ctx); err != nil {
			return fmt.Errorf("node %d: %w", i+1, err)
		}
	}
	return nil
}

// settings returns the settings of one node, counted from 1.
func (c *Cluster) settings(node int, listen string) []string {
	out := []string{
		"ATELIER_STORAGE_BACKEND=postgres", "ATELIER_STORAGE_POSTGRES=" + c.Database.through(c.Network.address(node, database)),
		"ATELIER_CLUSTER_ENABLED=true", "ATELIER_CLUSTER_NODE=" + Name(node), "ATELIER_CLUSTER_LISTEN=" + listen,
	}
	if peers := c.Network.peers(node); len(peers) > 0 {
		out = append(out, "ATELIER_CLUSTER_PEERS="+strings.Join(peers, ","))
	}
	return out
}

// Name returns the name of a node, counted from 1.
func Name(node int) string { return fmt.Sprintf("n%d", node) }

// knows reports whether a server supports a setting. A server reports other settings as unknown
// keys.
func knows(binary, setting string) bool {
	name, _, _ := strings.Cut(setting, "=")
	cmd := exec.Command(binary, "checkconfig")
	cmd.Env = append(os.Environ(), setting)
	out, _ := cmd.CombinedOutput()
	return !strings.Contains(string(out), "unknown key "+name)
}

// Stop shuts down every node. Its error names the nodes that did not shut down cleanly.
func (c *Cluster) Stop() error {
	var problems []error
	for i, p := range c.Processes {
		if err := p.Stop(); err != nil {
			problems = append(problems, fmt.Errorf("node %d: %w", i+1, err))
		}
	}
	return errors.Join(problems...)
}

// Remove removes all created files, and the database. Every node must have ended. With keep, the
// folders of the nodes, the started database server and the shared files stay, and Remove returns
// their paths. A database on a running server is dropped even with keep.
func (c *Cluster) Remove(keep bool) (kept []string, err error) {
	if keep {
		for _, p := range c.Processes {
			kept = append(kept, p.Dir)
		}
		c.Processes = nil
		if c.Database.Own() {
			kept = append(kept, c.Database.dir)
			err = c.Database.stop(syscall.SIGINT)
			c.Database = nil
		}
		if c.files != "" {
			kept = append(kept, c.files)
			c.files = ""
		}
	}
	return kept, errors.Join(err, c.remove())
}

func (c *Cluster) remove() error {
	var problems []error
	for _, p := range c.Processes {
		problems = append(problems, p.Remove())
	}
	if c.Network != nil {
		c.Network.close()
	}
	if c.Database != nil {
		problems = append(problems, c.Database.remove())
	}
	if c.files != "" {
		problems = append(problems, os.RemoveAll(c.files))
	}
	return errors.Join(problems...)
}
