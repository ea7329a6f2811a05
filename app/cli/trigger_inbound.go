package cli

import (
	"cmp"
	"maps"
	"strings"
)

func inboundMessage() simCommand {
	content := &content{text: sampleGreeting}
	kinds := contentKinds()
	half := len(kinds) / 2
	return simCommand{
		use:   "inbound",
		short: "Send a message from a person to the business number",
		long: "Send a message from a person to the business number, and print its id. Without flags, " + samplePersonName + "\n" +
			"(" + samplePerson + ") sends \"" + sampleGreeting + "\". The type is inferred from the other flags if not set;\n" +
			"every type has sample content.\n\n" +
			"Types: " + strings.Join(kinds[:half], ", ") + ",\n" + strings.Join(kinds[half:], ", ") + ".",
		example: "  confab trigger inbound\n" +
			"  confab trigger inbound --text 'Where is my order?' --from +15550002222 --name 'Bo Lind'\n" +
			"  confab trigger inbound --file photo.jpg --caption 'It is broken'\n" +
			"  confab trigger inbound --button-id yes --title 'Yes, please'\n" +
			"  confab trigger inbound --emoji ❤️\n" +
			"  confab trigger inbound --latitude 48.8584 --longitude 2.2945\n" +
			"  confab trigger inbound --type unsupported --code 131060\n" +
			"  confab trigger inbound --content '{\"text\": {\"body\": \"hi\"}, \"referral\": {\"source_type\": \"ad\"}}'",
		flags: []simFlag{
			{name: "from", usage: "`number` of the person (default " + samplePerson + ")"},
			{name: "bsuid", usage: "business-scoped user `id` of the person; without --from their number is hidden"},
			{name: "name", usage: "`name` of the person"},
			{name: "username", usage: "`username` of the person"},
			{name: "phone-number-id", usage: "`id` of the business number that receives it (default: the first)"},
		},
		addFlags: content.addFlags,
		call:     "POST /_sim/inbound",
		complete: func(r *simRequest) error {
			err := content.complete(r)
			if r.fields["from"] == nil && r.fields["bsuid"] == nil { // neither by flags nor by --content
				r.fields["from"] = samplePerson
				r.fields["name"] = cmp.Or(r.fields["name"], any(samplePersonName))
			}
			return err
		},
		print: printField("id"),
	}
}

func echo() simCommand {
	content := &content{text: "Sent from the phone"}
	return simCommand{
		use:   "echo",
		short: "Send a message to a person from the business's phone",
		long: "Send a message to a person from the app on the business's phone: your system gets a callback, an echo. The\n" +
			"content flags are those of 'confab trigger inbound'.",
		example: "  confab trigger echo\n  confab trigger echo --to +15550002222 --text 'I will call you back'",
		flags: []simFlag{
			{name: "to", usage: "`number` or BSUID of the person (default \"" + samplePerson + "\")", initial: samplePerson},
			{name: "phone-number-id", usage: "`id` of the business number (default: the first)"},
		},
		addFlags: content.addFlags,
		call:     "POST /_sim/echo",
		complete: content.complete,
		print:    printField("id"),
	}
}

// complete adds the content to a call. The fields that other flags gave win.
func (m *content) complete(r *simRequest) error {
	body, err := m.buildBody(r.cmd, r.simulatorClient)
	if err != nil {
		return err
	}
	maps.Copy(body, r.fields)
	r.fields = body
	return nil
}
