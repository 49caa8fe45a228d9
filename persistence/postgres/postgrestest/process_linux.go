package postgrestest

import "syscall"

// attributes returns the attributes of a process that ends with this one.
func attributes(cred *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: cred, Pdeathsig: syscall.SIGQUIT}
}
