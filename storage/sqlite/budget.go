package sqlite

import "reflect"

// Budget bounds the bytes of the rows that a list reads into memory. The list ends
// with the row that uses it up, so that it always has one, and Cut reports whether
// others are after it. Lists whose rows are small by their nature do not look at it.
type Budget struct {
	left int
	cut  bool
}

// NewBudget makes a budget of some bytes.
func NewBudget(bytes int) *Budget { return &Budget{left: bytes} }

// Cut reports whether a list ended early because the budget was used up.
func (b *Budget) Cut() bool { return b != nil && b.cut }

// Within is the same snapshot for lists that keep to a budget; nil lifts it.
func (rx *Rx) Within(b *Budget) *Rx {
	bounded := *rx
	bounded.budget = b
	return &bounded
}

// Cut reports whether a list ended early because its budget was used up.
func (rx *Rx) Cut() bool { return rx.budget.Cut() }

// ends reports whether nothing is left, and that another row is there.
func (b *Budget) ends() bool {
	if b == nil || b.left > 0 {
		return false
	}
	b.cut = true
	return true
}

// spend counts the columns of a row that was read, by where they went.
func (b *Budget) spend(columns ...any) {
	if b == nil {
		return
	}
	for _, c := range columns {
		b.left -= sizeOf(reflect.ValueOf(c))
	}
}

// sizeOf is about how many bytes a value takes: its texts, and a few for anything else.
func sizeOf(v reflect.Value) (size int) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return 0
		}
		return sizeOf(v.Elem())
	case reflect.String:
		return v.Len()
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v.Len()
		}

		for i := range v.Len() {
			size += sizeOf(v.Index(i))
		}
		return size
	case reflect.Struct:
		for i := range v.NumField() {
			size += sizeOf(v.Field(i))
		}
		return size
	}

	return 8
}
