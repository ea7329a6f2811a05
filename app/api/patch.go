package api

import (
	"encoding/json"
	"reflect"
)

// patch is a field of a PATCH body: absent, null, or a value.
type patch[T any] struct {
	Set   bool // the field is there
	Null  bool // and is null
	Value T
}

// UnmarshalJSON is called only for fields that are present.
func (p *patch[T]) UnmarshalJSON(b []byte) error {
	*p = patch[T]{Set: true, Null: string(b) == "null"}
	if p.Null {
		return nil
	}
	return json.Unmarshal(b, &p.Value)
}

// wrapped is the type whose JSON the field takes.
func (patch[T]) wrapped() reflect.Type { return reflect.TypeFor[T]() }

// given tells whether the field holds a value.
func (p patch[T]) given() bool { return p.Set && !p.Null }

// orNil is the value, or nil where there is none.
func (p patch[T]) orNil() *T {
	if !p.given() {
		return nil
	}
	return &p.Value
}
