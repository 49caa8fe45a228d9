package main

import (
	"errors"

	"atelier/transport/commerce/schema"
)

// viewFlags select a direction and an operation.
type viewFlags struct {
	Direction string `help:"Resolve visibility for this direction: request or response." placeholder:"DIRECTION"`
	Request   bool   `help:"Short for --direction request."`
	Response  bool   `help:"Short for --direction response."`
	Op        string `aliases:"operation" help:"Operation: ${operations}, or one that the schemas define. Default: create for requests, read for responses." placeholder:"OPERATION"`
}

func (f viewFlags) view() (schema.View, error) {
	direction := schema.Direction(f.Direction)
	for _, short := range []struct {
		set       bool
		direction schema.Direction
	}{{f.Request, schema.Request}, {f.Response, schema.Response}} {
		if !short.set {
			continue
		}
		if direction != "" && direction != short.direction {
			return schema.View{}, usage(errors.New("two different directions are given: use one of --direction, --request and --response"))
		}
		direction = short.direction
	}
	v := schema.View{Direction: direction, Operation: f.Op}
	if err := v.Check(); err != nil {
		return v, usage(err)
	}
	if direction == "" && f.Op != "" {
		return v, usage(errors.New("--op needs a direction: --request or --response"))
	}
	return v.DefaultOperation(), nil
}
