package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"atelier/cmd/atelier/doctor"
	"atelier/cmd/atelier/service"
	"atelier/cmd/internal/process"
	"atelier/transport/control"
)

type upgradeCmd struct {
	common
	Check     bool          `help:"Report what a start of this program would change, how long the start takes, and how to return to the previous program. The check changes nothing." required:""`
	BackupAge time.Duration `help:"The maximum age of the last backup." default:"${backup_age}"`
	JSON      bool          `help:"Print JSON." name:"json"`
}

// upgrade is the report on an upgrade.
type upgrade struct {
	Program string `json:"program"` // version of this program
	Running string `json:"running"` // the version of the server that runs on the data, or ""
	// Found is the data's format, or 0 if there is no data or the format is unknown. Writes is the
	// format to which this program converts the data.
	Found  int `json:"format_found"`
	Writes int `json:"format_writes"`
	// WayBack is "data" if the previous program can open the data, and "backup" if it cannot. It is
	// "" if this program cannot read the data or the configuration.
	WayBack string           `json:"way_back"`
	Checks  []doctor.Finding `json:"checks"`
}

// Run examines the data in the same way as a start of this program.
func (c upgradeCmd) Run() error {
	u := upgrade{Program: process.Version()}
	cfg, err := c.load()
	if err == nil {
		_, err = cfg.Check()
	}
	if err == nil {
		_, err = service.Check(cfg)
	}
	u.addFinding("configuration", err, "correct the configuration before the start; atelier checkconfig describes the problem in detail", "this program accepts the configuration")
	if err == nil {
		err = either(cfg, func(client *control.Client) (err error) {
			var app struct{ Version string }
			if err := client.Call("GET", "/api/app", nil, &app); err != nil {
				return err
			}
			u.Running = app.Version
			u.Found, u.Writes, err = service.FormatOfRunning(cfg, client.Backup)
			return err
		}, func() (err error) {
			u.Found, u.Writes, err = service.FormatOf(cfg)
			return err
		})
		u.data(cfg.Server.Data, err)
		size, takes, err := service.StoreReadTime(cfg)
		u.addFinding("time", err, "make sure that the store can be read", "a start first reads %d MiB of tables, which takes about %s, depending on the disk", size>>20, takes.Round(time.Second/10))
		u.back()
		_, f := doctor.LastBackup(cfg.Server.Data, c.BackupAge, time.Now())
		f.Name = "backup"
		u.Checks = append(u.Checks, f)
	}
	return u.write(c.JSON)
}

// addFinding adds a finding. If err is not nil, the check has failed: the finding has the text of
// err and the remedy.
func (u *upgrade) addFinding(name string, err error, remedy, text string, args ...any) {
	f := doctor.Finding{Name: name, OK: err == nil, Text: fmt.Sprintf(text, args...)}
	if err != nil {
		f.Text, f.Remedy = err.Error(), remedy
	}
	u.Checks = append(u.Checks, f)
}

// data describes the changes of the stored data.
func (u *upgrade) data(folder string, err error) {
	if err == nil && u.Found > u.Writes {
		err = fmt.Errorf("it has format %d, which a newer program wrote; this program reads formats up to %d, and does not start", u.Found, u.Writes)
	}
	const remedy = "stop the server properly, and run this command again; data of a newer program needs the newer program, or a backup made before the upgrade"
	u.WayBack = "data"
	if err != nil {
		u.WayBack = ""
	}
	switch {
	case err != nil:
		u.addFinding("data", err, remedy, "")
	case u.Found == 0:
		u.addFinding("data", err, remedy, "there is none in %s; a start creates it, in format %d", folder, u.Writes)
	case u.Found < u.Writes:
		u.WayBack = "backup"
		u.addFinding("data", err, remedy, "a start converts it from format %d to %d", u.Found, u.Writes)
	default:
		u.addFinding("data", err, remedy, "it has format %d, and keeps it", u.Found)
	}
}

// back determines how to return to the previous program.
func (u *upgrade) back() {
	text := "the previous program opens the same data, until this program has stored something that the previous program cannot read; after that, you need a backup"
	switch u.WayBack {
	case "":
		text = "not known, because this program does not read the data"
	case "backup":
		text = "only a backup, because the previous program does not open this data after a start of this program"
	}
	u.addFinding("way back", nil, "", "%s", text)
}

func (u *upgrade) write(asJSON bool) (err error) {
	if asJSON {
		err = printJSON(u)
	} else {
		of := "no server runs on the data"
		if u.Running != "" {
			of = "version " + u.Running + " runs on the data"
		}
		if _, err = fmt.Printf("this is version %s; %s\n", u.Program, of); err == nil {
			err = doctor.Write(os.Stdout, u.Checks)
		}
	}
	for _, f := range u.Checks {
		if err == nil && !f.OK {
			err = errors.New("not everything is ready for the upgrade")
		}
	}
	return err
}
