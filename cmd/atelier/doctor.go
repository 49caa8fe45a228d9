package main

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"atelier/cmd/atelier/config"
	"atelier/cmd/atelier/doctor"
	"atelier/cmd/atelier/service"
	"atelier/transport/messages"
)

// doctorDefaults contains the defaults of doctorCmd's flags.
var doctorDefaults = kong.Vars{"people": strconv.Itoa(doctor.People), "backup_age": doctor.BackupAge.String()}

type doctorCmd struct {
	common
	URL       string        `help:"Public address of the server; the default is server.public_url." name:"url" placeholder:"URL"`
	People    int           `help:"Number of expected people." default:"${people}"`
	BackupAge time.Duration `help:"Maximum age of the last backup." default:"${backup_age}"`
	JSON      bool          `help:"Print JSON." name:"json"`
}

// Run checks the machine, the path to the server and the last backup.
func (c doctorCmd) Run() error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	if c.People < 1 {
		return errors.New("--people must be at least 1")
	}
	password, err := ownersPassword(cfg)
	if err != nil {
		password = "" // another user can own the file; then checks with a login are skipped
	}
	all := doctor.Examine(context.Background(), doctor.Options{
		Data: cfg.Server.Data, MinFree: uint64(cfg.Storage.MinFreeMiB) << 20,
		Address: c.reach(cfg), Open: !loopback(cfg.Server.Listen), TLSCert: cfg.Server.TLSCert, Metrics: cfg.Server.InternalListen,
		Admin: cfg.Admin.ID, Password: password, People: c.People, SocketsPerLogin: cfg.Limits.SocketsPerPerson * messages.FacilitatorSockets, BackupAge: c.BackupAge, Now: time.Now,
	})
	if c.JSON {
		err = printJSON(struct {
			Checks []doctor.Finding `json:"checks"`
		}{all})
	} else {
		err = doctor.Write(os.Stdout, all)
	}
	for _, f := range all {
		if err == nil && !f.OK {
			err = errors.New("some checks failed")
		}
	}
	return err
}

// reach returns the address at which browsers reach the server: --url, server.public_url or, if
// only this machine can connect, the listener's address. It returns "" if none of these is known.
func (c doctorCmd) reach(cfg config.Config) string {
	switch {
	case c.URL != "":
		return c.URL
	case cfg.Server.PublicURL == "" && loopback(cfg.Server.Listen):
		scheme := "http://"
		if cfg.Server.TLSCert != "" {
			scheme = "https://"
		}
		return scheme + cfg.Server.Listen
	}
	return cfg.Server.PublicURL
}

// loopback reports whether only programs on this machine can connect to an address.
func loopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// ownersPassword returns the owner's password. It is in the configuration, or in the file that the
// first start wrote.
func ownersPassword(cfg config.Config) (string, error) {
	if cfg.Admin.Password != "" {
		return string(cfg.Admin.Password), nil
	}
	b, err := os.ReadFile(service.PasswordFile(cfg))
	return strings.TrimSpace(string(b)), err
}
