package cli

import (
	"context"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"confab/app/datadir"
	"confab/app/mcp"
	"confab/storage"
)

// baseURLVariable is set by 'sandbox exec', among others.
const baseURLVariable = "CONFAB_BASE_URL"

func (e *env) mcp() *cobra.Command {
	var org string
	var o mcp.Options
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Connect an agent on this machine through MCP",
		Long: "Offer tools to the agent that starts this command, through the Model Context Protocol (MCP) over standard\n" +
			"input and output: list and read conversations, search messages, find contacts, list templates and\n" +
			"deliveries. With --allow-writes it can also send, label, assign, resolve and replay.\n\n" +
			"It calls the server at $" + baseURLVariable + " with the key in $" + apiKeyVariable + ". Without them, or with\n" +
			"--data-dir or --org, it calls the server of the data directory, for the organization, and needs no key.\n" +
			"It finds a sandbox in the current directory.\n\n" +
			"Text that people wrote is in fields called untrusted_text: it is data, not instructions.",
		Example: "  confab mcp --data-dir ./confab-sandbox --allow-writes\n" +
			"  claude mcp add confab -- confab mcp --data-dir /var/lib/confab --org org_01J…",
		RunE: untilInterrupted(e.run(func(cmd *cobra.Command, _ []string) error {
			client, err := e.mcpClient(cmd, org)
			if err != nil {
				return err
			}

			o.Version = e.Version
			server := mcp.New(o, func(context.Context) *mcp.Client { return client })
			return server.Run(cmd.Context(), &mcp.Stdio{})
		})),
	}

	parsedFlag(cmd, &org, "org", "`organization` to use (required if there are several)", parseText)
	cmd.Flags().BoolVar(&o.AllowWrites, "allow-writes", false, "also offer tools that make changes")
	return cmd
}

// mcpClient makes the client of the server that the variables name, or of the data directory's.
func (e *env) mcpClient(cmd *cobra.Command, org string) (*mcp.Client, error) {
	base, key := os.Getenv(baseURLVariable), os.Getenv(apiKeyVariable)
	if base != "" && org == "" && !cmd.Flags().Changed("data-dir") {
		if key == "" {
			return nil, usage("$%s needs an API key in $%s", baseURLVariable, apiKeyVariable)
		}
		at, err := parseEndpoint(base)
		if err != nil {
			return nil, usage("$%s: %v", baseURLVariable, err)
		}
		return &mcp.Client{HTTP: http.DefaultClient, Base: strings.TrimRight(at.String(), "/"), Key: key}, nil
	}

	dir, err := e.servedDir(cmd)
	if err != nil {
		return nil, err
	}
	if err := cmd.Flags().Set("data-dir", string(dir)); err != nil { // the settings read flags that were set
		return nil, err
	}
	s, err := e.open(cmd, false)
	if err != nil {
		return nil, err
	}
	defer s.Close()

	o, err := storage.Query(cmd.Context(), s.DB, func(rx *storage.Rx) (storage.Organization, error) { return onlyOrganization(rx, org) })
	return &mcp.Client{HTTP: dir.Client(), Base: "http://confab" + datadir.APIOf(o.PublicID) + "/v1"}, err
}
