package postgres

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
)

// denied is the error of a database role that lacks a privilege. If the missing grant is known, the
// error contains it.
type denied struct {
	message string // PostgreSQL's message
	role    string // "" if the role is not known yet
	grant   string // the grant and its object; "" if unknown
}

func (d *denied) Error() string {
	role := "the role of storage.postgres"
	if d.role != "" {
		role = fmt.Sprintf("role %q", d.role)
	}
	text := fmt.Sprintf("postgres: %s lacks a privilege: %s (SQLSTATE %s)", role, d.message, pgDenied)
	if d.grant != "" && d.role != "" {
		text += fmt.Sprintf("; run as the owner of the object or as a superuser: GRANT %s TO %s;", d.grant, pgx.Identifier{d.role}.Sanitize())
	}
	return text
}

// deniedTo adds the role to an error about a privilege.
func deniedTo(role string, err error) error {
	if codeOf(err) == pgDenied {
		err = translate(err)
	}
	var d *denied
	if errors.As(err, &d) {
		d.role = role
	}
	return err
}

// refusedObject parses the object of a missing privilege in PostgreSQL's English message. If the
// message is in another language, the error contains only that message.
var refusedObject = regexp.MustCompile(`^permission denied for (\w+) (.+)$`)

// grants maps each kind of object to the privileges needed on it. OBJECT is replaced by the
// object's name.
var grants = map[string]string{
	"schema":   "usage, create on schema OBJECT",
	"table":    "select, insert, update, delete on all tables in schema " + schema,
	"sequence": "usage on all sequences in schema " + schema,
	"function": "execute on all functions in schema " + schema,
	"database": "connect, create on database OBJECT",
}

func newDenied(message string) *denied {
	d := &denied{message: message}
	if m := refusedObject.FindStringSubmatch(message); m != nil && grants[m[1]] != "" {
		object := pgx.Identifier{strings.Trim(m[2], `"`)}.Sanitize()
		d.grant = strings.ReplaceAll(grants[m[1]], "OBJECT", object)
	}
	return d
}
