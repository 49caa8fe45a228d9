package main

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"atelier/actors/naming"
	"atelier/actors/people"
	"atelier/transport/control"
)

// roles contains the values of roles, for the help and the checks of the commands below.
var roles = kong.Vars{"roles": naming.Or(people.Roles...), "role_enum": strings.Join(people.Roles, ",")}

// peopleCmd manages facilitators and assistants.
type peopleCmd struct {
	Add     peopleAdd     `cmd:"" help:"Invite a person, and print the link for choosing a password."`
	List    peopleList    `cmd:"" help:"List facilitators and assistants."`
	Invite  peopleInvite  `cmd:"" help:"Create a new link for a person; the earlier link, the password and all sessions become void."`
	Disable peopleDisable `cmd:"" help:"End a person's sessions and refuse new ones."`
}

// leader is a person in the API's responses.
type leader struct {
	ID         string     `json:"id"`
	Login      string     `json:"login"`
	Name       string     `json:"name"`
	Role       string     `json:"role"`
	Codelabs   []string   `json:"codelabs"`
	State      string     `json:"state"`
	LastSeen   *time.Time `json:"last_seen"`
	ExpiresAt  *time.Time `json:"expires_at"`
	Invitation *struct {
		URL       string    `json:"url"`
		ExpiresAt time.Time `json:"expires_at"`
	} `json:"invitation"`
}

const peoplePath = "/api/admin/people"

type peopleAdd struct {
	common
	Name    string        `arg:"" help:"Name that others see."`
	Login   string        `help:"Login name: an e-mail address, or any word of 3 to 80 characters." xor:"kind" required:""`
	For     time.Duration `help:"Create a helper without a login for this time instead, 5 minutes to 7 days." placeholder:"8h" xor:"kind" required:""`
	Role    string        `default:"assistant" help:"${roles}." enum:"${role_enum}"`
	Codelab []string      `help:"Id of a codelab in which an assistant helps. Repeatable." placeholder:"ID"`
}

// Run invites a person.
func (c peopleAdd) Run() error {
	body := map[string]any{"name": c.Name, "role": c.Role, "codelabs": c.Codelab}
	if c.For > 0 {
		body["expires_at"] = time.Now().Add(c.For).UTC().Format(time.RFC3339)
	} else {
		body["login"] = c.Login
	}
	return c.operate(func(server *control.Client) error {
		var p leader
		err := server.Call("POST", peoplePath, body, &p)
		if err == nil {
			p.printInvitation()
		}
		return err
	})
}

func (p *leader) printInvitation() {
	fmt.Printf("id          %s\ninvitation  %s   (shown once)\nuntil       %s\n", p.ID, p.Invitation.URL, p.Invitation.ExpiresAt.Local().Format(time.DateTime))
	if strings.HasPrefix(p.Invitation.URL, "/") {
		fmt.Println("Put the address of the server before the link. If server.public_url is set, the link already contains it.")
	}
}

type peopleList struct{ common }

// Run lists the people.
func (c peopleList) Run() error {
	return c.operate(func(server *control.Client) error {
		var all []leader
		if err := server.Call("GET", peoplePath, nil, &all); err != nil {
			return err
		}
		if len(all) == 0 {
			fmt.Println("nobody yet besides the owner; invite somebody with: atelier people add NAME --login LOGIN --role facilitator")
		}
		for _, p := range all {
			p.print()
		}
		return nil
	})
}

func (p *leader) print() {
	fmt.Printf("%s  %s\n  %s, %s", p.ID, p.Name, p.Role, p.State)
	switch {
	case p.ExpiresAt != nil:
		fmt.Printf(", helps until %s", p.ExpiresAt.Local().Format(time.DateTime))
	default:
		fmt.Printf(", login %s", p.Login)
	}
	if p.LastSeen != nil {
		fmt.Printf(", seen %s", p.LastSeen.Local().Format(time.DateTime))
	}
	fmt.Println()
	for _, id := range p.Codelabs {
		fmt.Printf("  helps in %s\n", id)
	}
}

type peopleInvite struct {
	common
	ID string `arg:"" help:"Id of the person."`
}

// Run invites a person again.
func (c peopleInvite) Run() error {
	return c.operate(func(server *control.Client) error {
		var p leader
		err := server.Call("POST", peoplePath+"/"+url.PathEscape(c.ID)+"/invitation", nil, &p)
		if err == nil {
			p.printInvitation()
		}
		return err
	})
}

type peopleDisable struct {
	common
	ID string `arg:"" help:"Id of the person."`
}

// Run disables a person.
func (c peopleDisable) Run() error {
	return c.operate(func(server *control.Client) error {
		err := server.Call("PUT", peoplePath+"/"+url.PathEscape(c.ID), map[string]any{"disabled": true}, nil)
		if err == nil {
			fmt.Println("done")
		}
		return err
	})
}
