package service

import (
	"fmt"
	"os"
	"strings"
	"time"

	"atelier/actors/clock"
	"atelier/actors/login"
	"atelier/actors/people"
	"atelier/actors/settings"
	"atelier/cmd/atelier/config"
	"atelier/persistence/secrets"
	"atelier/transport/auth"
	"atelier/transport/auth/oidc"
	"atelier/transport/httpapi"
	"atelier/transport/rest"
)

const passwordFile = "admin.password"

// PasswordFile returns the path of the file with the generated password.
func PasswordFile(cfg config.Config) string { return secretFile(cfg, passwordFile) }

// adminsPassword returns the generated password. If none exists, it generates a password.
func adminsPassword(cfg config.Config) (password string, made bool, err error) {
	return secrets.Password(PasswordFile(cfg), func() string { return auth.Random(15) })
}

// adminPassword is the place of the admin's password, and the password itself if it is new.
type adminPassword struct {
	file string // "" if the password was configured
	made string // the password itself, if it is new
}

// announce reports how to reach the server, in the log and on the terminal. A new password is shown
// only on the terminal, and not if standard error is a file or a pipe. The log contains only the
// path of the password file.
func (s *Service) announce(pw adminPassword, app bool, took time.Duration) {
	addr := s.public.Addr().String()
	url := openAt(s.cfg.Server, addr)
	s.log.Info("listening", "addr", addr, "url", url, "data", s.cfg.Server.Data, "started_in", took.Round(time.Millisecond))
	s.log.Info("admin account", "admin_id", s.cfg.Admin.ID, "password", pw.where())
	if !app {
		s.log.Warn("this program was built without the browser app; make build adds it where Node 20.19 or newer is installed")
	}
	pw.show(os.Stderr, url, s.cfg.Admin.ID)
}

// where describes where the password is.
func (pw adminPassword) where() string {
	if pw.file == "" {
		return "as configured"
	}
	return pw.file
}

// show prints the address, the login and a new password on a terminal.
func (pw adminPassword) show(to *os.File, url, id string) {
	if !IsTerminal(to) {
		return
	}
	password := pw.where()
	switch {
	case pw.made != "":
		password = pw.made + "   (shown once; kept in " + pw.file + ")"
	case pw.file != "":
		password = "in " + pw.file
	}
	fmt.Fprintf(to, "\n  Atelier    %s\n  Admin id   %s\n  Password   %s\n\n", url, id, password)
}

// account opens the admin's password, sessions and API tokens.
func (s *Service) account() (err error) {
	cfg, pw := s.cfg, &s.password
	key := string(cfg.Session.Key)
	if key == "" {
		var made bool
		if key, made, err = secretKey(cfg, sessionKeyFile); err != nil {
			return err
		}
		s.core.warnOfNewKey(sessionKeyFile, made, "everybody is signed out and has to sign in again")
	}
	password := string(cfg.Admin.Password)
	if password == "" {
		pw.file = PasswordFile(cfg)
		var made bool
		if password, made, err = adminsPassword(cfg); err != nil {
			return err
		}
		if made || s.core.made[passwordFile] {
			pw.made = password
		}
	}
	for name, secret := range map[string]string{"session.key": key, "admin.id or admin.password": cfg.Admin.ID + "\x00" + password} {
		if err := s.core.node.AgreeAnew(name, secret); err != nil {
			return err
		}
	}
	account := auth.Account(key, cfg.Admin.ID, password)
	sessions, err := s.openSessions(account)
	if err != nil {
		return err
	}
	if _, err := s.core.settings.Get(settings.ID); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	if _, err := s.core.people.Get(people.ID); err != nil {
		return fmt.Errorf("people: %w", err)
	}
	pinKey, err := s.core.pinKey()
	if err != nil {
		return err
	}
	s.grants = auth.New(auth.Config{
		AdminID: cfg.Admin.ID, AdminPassword: password, AdminLifetime: cfg.Session.AdminLifetime.Std(),
		AttendeeLifetime: cfg.Session.AttendeeLifetime.Std(), Signer: auth.NewSigner(key, account, time.Now), Sessions: sessions,
		Tokens: s.core.tokens, People: s.core.leaders, PINKey: pinKey, Now: time.Now,
		Failures: auth.NewFailures(httpapi.Rate{Burst: cfg.Limits.LoginFailures, Per: cfg.Limits.LoginWindow.Std(), Among: s.core.node.Count()}, time.Now),
	})
	return nil
}

// openSessions reads the login sessions, and follows the changes of other nodes.
func (s *Service) openSessions(account []byte) (*login.Sessions, error) {
	if s.core.node == nil {
		return login.Load(s.core.store, account, time.Now)
	}
	return login.Follow(s.core.node.Store, account, clock.System, func(err error) { s.log.Error("reading a change of the login sessions failed", "error", err) })
}

// tokens returns the current API tokens. With other nodes, they can be up to one second old.
func (c *Core) tokens() (*settings.View, error) {
	h, err := c.settings.Near(settings.ID, login.MaxAge)
	if err != nil {
		return nil, err
	}
	return h.View(), nil
}

// leaders returns the current facilitators and assistants. With other nodes, they can be up to one
// second old.
func (c *Core) leaders() (*people.View, error) {
	h, err := c.people.Near(people.ID, login.MaxAge)
	if err != nil {
		return nil, err
	}
	return h.View(), nil
}

// current implements rest.Config.Current.
func (s *Service) current() func(now, token bool) error {
	if s.core.node == nil {
		return nil
	}
	return func(now, token bool) error {
		within := login.MaxAge
		if now {
			within = 0
		}
		if !token {
			if _, err := s.core.people.Near(people.ID, within); err != nil {
				return err
			}
			return s.grants.Sessions.Current(within)
		}
		_, err := s.core.settings.Near(settings.ID, within)
		return err
	}
}

// signIn returns the identity provider for sign-in, or nil if none is configured.
func (s *Service) signIn() *rest.SignIn {
	c := s.cfg.Login
	if c.Issuer == "" {
		return nil
	}
	return &rest.SignIn{
		Provider: oidc.New(oidc.Config{
			Issuer: c.Issuer, ClientID: c.ClientID, ClientSecret: string(c.ClientSecret),
			Redirect: strings.TrimSuffix(s.cfg.Server.PublicURL, "/") + rest.SignInCallback,
			Allowed:  c.Allowed, TrustEmail: c.TrustEmail, Now: time.Now,
		}),
		Label: c.Label, Role: c.Role,
	}
}
