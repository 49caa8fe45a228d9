package describe

import "encoding/json"

// Schema is a JSON Schema with the keywords that the documents use. Members are written in this
// order.
type Schema struct {
	Ref         string    `json:"$ref,omitempty"`
	Title       string    `json:"title,omitempty"`
	Type        any       `json:"type,omitempty"` // a name, or several
	Const       string    `json:"const,omitempty"`
	Enum        []any     `json:"enum,omitempty"`
	Default     any       `json:"default,omitempty"`
	Format      string    `json:"format,omitempty"`
	Pattern     string    `json:"pattern,omitempty"`
	MinLength   int       `json:"minLength,omitempty"`
	MaxLength   int       `json:"maxLength,omitempty"`
	Minimum     any       `json:"minimum,omitempty"` // a number
	Maximum     any       `json:"maximum,omitempty"` // a number
	MultipleOf  any       `json:"multipleOf,omitempty"`
	Items       *Schema   `json:"items,omitempty"`
	MinItems    int       `json:"minItems,omitempty"`
	MaxItems    int       `json:"maxItems,omitempty"`
	UniqueItems bool      `json:"uniqueItems,omitempty"`
	OneOf       []*Schema `json:"oneOf,omitempty"`
	AllOf       []*Schema `json:"allOf,omitempty"`
	Description string    `json:"description,omitempty"`
	Examples    []any     `json:"examples,omitempty"`
	Properties  Object    `json:"properties,omitempty"`
	Required    []string  `json:"required,omitempty"`
	Not         *Schema   `json:"not,omitempty"`
	If          *Schema   `json:"if,omitempty"`
	Then        *Schema   `json:"then,omitempty"` // applies to values that match If
	// PropertyNames is a schema of the members' names.
	PropertyNames *Schema `json:"propertyNames,omitempty"`
	// Open states whether undescribed members are permitted. Nil omits the keyword, because the
	// value is not an object, or because such members are permitted by default.
	Open any `json:"additionalProperties,omitempty"` // a boolean, or a schema of those members
	// Of, if set, is a value. Its type determines the object's members.
	Of any `json:"-"`
}

// components is the path of schemas in a document.
const components = "#/components/schemas/"

// Ref returns a reference to a component.
func Ref(component string) *Schema { return &Schema{Ref: components + component} }

// Parameter is a parameter of an OpenAPI operation.
type Parameter struct {
	Name        string  `json:"name"`
	In          string  `json:"in"` // path, query or header
	Required    bool    `json:"required,omitempty"`
	Description string  `json:"description,omitempty"`
	Schema      *Schema `json:"schema"`
}

// Object is a JSON object with ordered members.
type Object []Property

// Property is a member of an Object.
type Property struct {
	Name  string
	Value any
}

// Add appends a member.
func (o *Object) Add(name string, value any) { *o = append(*o, Property{name, value}) }

// Set replaces the value of a member, or appends it.
func (o *Object) Set(name string, value any) {
	for i := range *o {
		if (*o)[i].Name == name {
			(*o)[i].Value = value
			return
		}
	}
	o.Add(name, value)
}

// Names returns the names of the members.
func (o Object) Names() (names []string) {
	for _, p := range o {
		names = append(names, p.Name)
	}
	return names
}

// MarshalJSON implements json.Marshaler.
func (o Object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, p := range o {
		name, err := json.Marshal(p.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(p.Value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, name...), ':'), value...)
	}
	return append(b, '}'), nil
}
