package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"

	"github.com/spf13/cobra"
)

func (t *trigger) templateReview() *cobra.Command {
	var (
		status, why string
		asJSON      bool
	)
	cmd := &cobra.Command{
		Use:   "template-review [TEMPLATE]",
		Short: "Let the provider approve or reject a template",
		Long: "Let the provider approve or reject a template, given by its name or id, and print that. Without one the newest\n" +
			"that waits for its review is meant.",
		Example: "  confab trigger template-review\n" +
			"  confab trigger template-review spring_offer --status rejected --reason INVALID_FORMAT",
		Args: arguments("[TEMPLATE]"),
		RunE: t.withSimulator(func(cmd *cobra.Command, args []string, c *simulatorClient) (err error) {
			done := actionView{Status: cmp.Or(status, "APPROVED")}
			if len(args) > 0 {
				done.ID = args[0]
			} else if done.ID, err = c.newestPending(cmd.Context()); err != nil {
				return err
			}

			body := map[string]any{}
			setNonEmpty(body, "status", done.Status, "reason", why)
			if err := c.do(cmd.Context(), "POST", "/_sim/templates/"+url.PathEscape(done.ID)+"/review", body, nil); err != nil {
				return err
			}
			return printNew(cmd, asJSON, done.ID, done)
		}),
	}

	cmd.Flags().StringVar(&status, "status", "", "`verdict`: approved, rejected, paused, disabled, … (default approved)")
	cmd.Flags().StringVar(&why, "reason", "", "`reason` of a rejection, such as INVALID_FORMAT")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// newestPending is the id of the template that was submitted last and is not
// reviewed yet. The control API does not list templates, so the provider's API is
// called, which needs the access token.
func (c *simulatorClient) newestPending(ctx context.Context) (id string, err error) {
	if c.AccessToken == "" {
		return "", errors.New("say which template, by name or id: only a data directory has the token that lists them")
	}

	path := "/" + c.WABAID + "/message_templates?status=PENDING&limit=1000&fields=id"
	err = c.request(ctx, "GET", path, c.AccessToken, nil, func(body io.Reader) error {
		var list struct {
			Data []createdAnswer `json:"data"`
		}
		err := json.NewDecoder(body).Decode(&list)
		for _, t := range list.Data {
			id = t.ID // in the order of creation
		}
		return err
	})

	if err == nil && id == "" {
		err = errors.New("no template waits for its review: name one")
	}
	return id, err
}
