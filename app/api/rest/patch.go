package rest

import (
	"encoding/json"
	"reflect"
)

// Patch is a field of a PATCH body: absent, null, or a value.
type Patch[T any] struct {
	Set   bool // the field is there
	Null  bool // and is null
	Value T
}

// UnmarshalJSON is called only for fields that are present.
func (p *Patch[T]) UnmarshalJSON(b []byte) error {
	*p = Patch[T]{Set: true, Null: string(b) == "null"}
	if p.Null {
		return nil
	}
	return json.Unmarshal(b, &p.Value)
}

// wrapped is the type whose JSON the field takes.
func (Patch[T]) wrapped() reflect.Type { return reflect.TypeFor[T]() }

// Given reports whether the field holds a value.
func (p Patch[T]) Given() bool { return p.Set && !p.Null }

// NotNull refuses a field that is null.
func (p Patch[T]) NotNull(name string) error {
	if p.Null {
		return Invalid(name, "cannot be null")
	}
	return nil
}

// IfSet is the value, zero for null; nil if the field is absent.
func (p Patch[T]) IfSet() *T {
	if !p.Set {
		return nil
	}
	return &p.Value
}

// OrNil is the value, or nil where there is none.
func (p Patch[T]) OrNil() *T {
	if !p.Given() {
		return nil
	}
	return &p.Value
}

// Apply sets what the field is for, if the field is there.
func (p Patch[T]) Apply(to *T) {
	if p.Set {
		*to = p.Value
	}
}

// ApplyOrNil is Apply for what may be absent: null takes it away.
func (p Patch[T]) ApplyOrNil(to **T) {
	if p.Set {
		*to = p.OrNil()
	}
}
