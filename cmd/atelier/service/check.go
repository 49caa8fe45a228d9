package service

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"atelier/cmd/atelier/config"
	"atelier/persistence/ondisk"
	"atelier/transport/server"
)

// Check finds problems of a configuration without starting the server. It checks the business
// profile with its schemas, the certificates and the data folder.
func Check(cfg config.Config) (warnings []string, err error) {
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	err = CheckCommerce(cfg)
	if s := cfg.Server; s.TLSCert != "" {
		err = errors.Join(err, checkPair("server.tls_cert", s.TLSCert, s.TLSKey, warn))
	}
	if c := cfg.Cluster; c.Enabled && c.TLSCA != "" {
		_, bad := c.TLS(func(error) {})
		err = errors.Join(err, bad)
		if bad == nil {
			err = errors.Join(err, checkPair("cluster.tls_cert", c.TLSCert, c.TLSKey, warn))
		}
	}
	return warnings, errors.Join(err, checkData(cfg, warn))
}

// checkPair reads a certificate in the same way as a start, and warns if it is not valid now.
func checkPair(name, certFile, keyFile string, warn func(string, ...any)) error {
	pair, err := server.LoadKeyPair(certFile, keyFile, func(error) {})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	cert, err := x509.ParseCertificate(pair.Certificate().Certificate[0])
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	switch now := time.Now(); {
	case now.After(cert.NotAfter):
		warn("%s: the certificate expired on %s", name, cert.NotAfter.Format(time.DateOnly))
	case now.Before(cert.NotBefore):
		warn("%s: the certificate is valid only from %s on", name, cert.NotBefore.Format(time.DateOnly))
	}
	return nil
}

// checkData checks the data folder. If the folder does not exist, it checks the nearest existing
// parent.
func checkData(cfg config.Config, warn func(string, ...any)) error {
	if cfg.Storage.Backend == config.Memory {
		return nil
	}
	dir, err := filepath.Abs(cfg.Server.Data)
	if err != nil {
		return fmt.Errorf("server.data: %w", err)
	}
	info, err := os.Stat(dir)
	for errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
		info, err = os.Stat(dir)
	}
	if err != nil {
		return fmt.Errorf("server.data: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("server.data: %s is not a folder", dir)
	}
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return fmt.Errorf("server.data: nothing can be written into %s: %w", dir, err)
	}
	free, err := ondisk.FreeBytes(dir)
	if err != nil {
		return fmt.Errorf("server.data: %w", err)
	}
	if free < minFree(cfg) {
		warn("storage.min_free_mib is %d, and the disk of %s has %d MiB left: the server would answer reads only", cfg.Storage.MinFreeMiB, cfg.Server.Data, free>>20)
	}
	return nil
}
