package service

import (
	"fmt"
	"path/filepath"
	"time"

	"atelier/actors/catalog"
	"atelier/transport/auth"
	"atelier/transport/limit"
)

// PasswordFile holds a password that was made, below the data folder.
const PasswordFile = "secrets/admin.password"

// adminPassword is where the admin's password came from.
type adminPassword struct {
	file string // "" when it was configured
	made string // the password itself, when it was made now
}

// announce says how to reach the server. A password that was made now is
// shown once, on standard output and never in the log.
func (s *Service) announce(pw adminPassword, took time.Duration) {
	scheme := "http"
	if s.cfg.Server.TLSCert != "" {
		scheme = "https"
	}
	addr := s.public.Addr().String()
	s.log.Info("listening", "addr", addr, "url", scheme+"://"+addr, "data", s.cfg.Server.Data, "started_in", took.Round(time.Millisecond))
	where := pw.file
	if where == "" {
		where = "as configured"
	}
	s.log.Info("admin account", "admin_id", s.cfg.Admin.ID, "password", where)
	if pw.made != "" {
		fmt.Printf("\n  Atelier    %s://%s\n  Admin id   %s\n  Password   %s   (shown once; kept in %s)\n\n", scheme, addr, s.cfg.Admin.ID, pw.made, pw.file)
	}
}

// authenticator brings up sessions, API tokens and the admin's password.
func (s *Service) authenticator() (*auth.Authenticator, adminPassword, error) {
	cfg, pw := s.cfg, adminPassword{}
	secrets := filepath.Join(cfg.Server.Data, "secrets")
	key, err := string(cfg.Session.Key), error(nil)
	if key == "" {
		if key, _, err = auth.LoadOrMake(filepath.Join(secrets, "session.key"), 32); err != nil {
			return nil, pw, err
		}
	}
	password := string(cfg.Admin.Password)
	if password == "" {
		pw.file = filepath.Join(cfg.Server.Data, PasswordFile)
		var made bool
		if password, made, err = auth.LoadOrMake(pw.file, 15); err != nil {
			return nil, pw, err
		}
		if made {
			pw.made = password
		}
	}
	if s.sessions, err = catalog.LoadSessions(s.core.store, time.Now); err != nil {
		return nil, pw, err
	}
	settings, err := s.core.settings.Get(catalog.SettingsID)
	if err != nil {
		return nil, pw, fmt.Errorf("settings: %w", err)
	}
	pinKey, err := s.core.pinKey()
	if err != nil {
		return nil, pw, err
	}
	return auth.New(auth.Config{
		AdminID: cfg.Admin.ID, AdminPassword: password, AdminLifetime: cfg.Session.AdminLifetime.Std(),
		AttendeeLifetime: cfg.Session.AttendeeLifetime.Std(), Signer: auth.NewSigner(key, time.Now), Sessions: s.sessions,
		Tokens: settings.View, PINKey: pinKey, Now: time.Now,
		Failures: limit.New(limit.Rate{Burst: cfg.Limits.LoginFailures, Per: cfg.Limits.LoginWindow.Std()}, time.Now),
	}), pw, nil
}
