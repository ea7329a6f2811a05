package mergefield

import (
	"errors"
	"slices"
	"testing"

	"github.com/matryer/is"

	"confab/storage"
)

// filled fills one text for somebody.
func filled(t *testing.T, text string, fields map[string]string, c storage.Contact) string {
	t.Helper()
	content := `{"components":[{"type":"body","parameters":[{"type":"text","text":"` + text + `"}]}]}`
	template, err := Parse([]byte(content), &text)
	if err != nil {
		t.Fatal(err)
	}
	var r storage.BroadcastRecipient
	r.SetFields(fields, template.Names())
	values, err := Of(r, c)
	if err != nil {
		t.Fatal(err)
	}
	_, body, err := template.Fill(values)
	switch {
	case errors.Is(err, ErrMissing):
		return "missing"
	case err != nil:
		t.Fatal(err)
	}
	return *body
}

func TestAFieldHasAFallbackAndNeverANumberForAName(t *testing.T) {
	named := func(name string) storage.Contact { return storage.Contact{Name: &name} }
	for _, tt := range []struct {
		text   string
		fields map[string]string
		c      storage.Contact
		want   string
	}{
		{"Hi {{name}}!", nil, named("Ana Ruiz"), "Hi Ana Ruiz!"},
		{"Hi {{first_name}}!", nil, named(" Ana  Ruiz"), "Hi Ana!"},
		{"Hi {{ first_name | there }}!", nil, storage.Contact{}, "Hi there!"},
		{"Hi {{name|dear customer}}!", nil, named(""), "Hi dear customer!"},
		{"Hi {{name|there}}!", nil, named("+1 (555) 000-1111"), "Hi there!"},
		{"Hi {{first_name|there}}!", nil, named("15550001111"), "Hi there!"},
		{"Hi {{name}}!", nil, named("15550001111"), "missing"},
		{"Hi {{first_name}}!", nil, storage.Contact{}, "missing"},
		{"Hi {{name|}}!", nil, storage.Contact{}, "missing"},
		{"Hi {{first_name|there}}!", map[string]string{"name": "Bo Berg"}, named("Ana Ruiz"), "Hi Bo!"},
		{"Hi {{first_name|there}}!", map[string]string{"first_name": "Bobby", "name": "Bo Berg"}, named("Ana Ruiz"), "Hi Bobby!"},
		{"Hi {{name|there}}!", map[string]string{"name": "555 0001"}, named("Ana Ruiz"), "Hi there!"},
		{"Hi {{name|there}}!", map[string]string{"name": " "}, named("Ana Ruiz"), "Hi there!"},
		{"Order {{order|of yours}}", map[string]string{"order": "1042"}, storage.Contact{}, "Order 1042"},
		{"Agent {{name}}", nil, named("007 Bond"), "Agent 007 Bond"},
	} {
		if got := filled(t, tt.text, tt.fields, tt.c); got != tt.want {
			t.Errorf("%s: %q instead of %q", tt.text, got, tt.want)
		}
	}
}

func TestTheNamesOfFieldsAreWithoutTheirFallbacks(t *testing.T) {
	is := is.New(t)
	is.True(slices.Equal(Names("{{first_name|there}}, {{order}} and {{ order | x }}"), []string{"first_name", "name", "order"}))
}
