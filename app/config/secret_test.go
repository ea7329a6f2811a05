package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/matryer/is"
)

const password = "hunter2hunter2"

func TestSecretsAreNotPrinted(t *testing.T) {
	is := is.NewRelaxed(t)
	cfg, err := Load(Sources{Environ: []string{
		"CONFAB_PROVIDER__APP_SECRET=" + password, "CONFAB_PROVIDER__VERIFY_TOKEN=" + password,
	}})
	is.NoErr(err)
	is.Equal(cfg.Provider.AppSecret.Reveal(), password)

	var printed bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
		fmt.Fprintf(&printed, verb, cfg)
		fmt.Fprintf(&printed, verb, &cfg)
		fmt.Fprintf(&printed, verb, cfg.Provider)
		fmt.Fprintf(&printed, verb, cfg.Provider.AppSecret)
	}
	for _, log := range []*slog.Logger{
		slog.New(slog.NewTextHandler(&printed, nil)), slog.New(slog.NewJSONHandler(&printed, nil)),
	} {
		log.Info("start", "config", cfg, "provider", cfg.Provider, "secret", cfg.Provider.VerifyToken)
	}
	text, err := json.Marshal(cfg)
	is.NoErr(err)
	printed.Write(text)
	fmt.Fprint(&printed, cfg.String())

	out := strings.ToLower(printed.String())
	is.True(!strings.Contains(out, password))
	is.True(!strings.Contains(out, fmt.Sprintf("%x", password)))
	is.True(strings.Contains(out, `provider.app_secret = "[hidden]"`)) // yet one sees that it is set
}

func TestErrorsShowNoSecrets(t *testing.T) {
	is := is.NewRelaxed(t)
	for _, content := range []string{
		"provider.app_secret = ['" + password + "']",
		"provider.verify_token = {a = '" + password + "'}",
		"provider.app_secrte = '" + password + "'",
		"provider.app_secret = '" + password + "' 'x'",
		"provider.app_secret = \"" + password,
		"provider.app_secret = " + password,
		"server.public_url = 'https://me:" + password + "@a.example/'",
		"server.cors_origins = ['https://me:" + password + "@a.example/']",
	} {
		_, err := Load(Sources{File: writeFile(t, content)})
		is.True(err != nil)
		is.True(!strings.Contains(err.Error(), password)) // also where the file cannot be parsed
	}

	_, err := Load(Sources{File: writeFile(t, "provider.app_secret = 123456e789")})
	is.True(err != nil)
	is.True(!strings.Contains(err.Error(), "123456"))

	cfg, err := Load(Sources{Environ: []string{"CONFAB_PROVIDER__APP_SECRTE=" + password}})
	is.NoErr(err)
	is.True(!strings.Contains(fmt.Sprint(cfg.UnknownVariables), password)) // a misspelt secret is one
}

func TestTheListOfSettingsReadsLikeTheFile(t *testing.T) {
	is := is.New(t)
	out := Default().String()
	is.True(strings.HasPrefix(out, "data_dir = \"./confab-data\"\nserver.listen = \"127.0.0.1:8080\"\n"))
	is.True(strings.Contains(out, "\nserver.cors_origins = []\n"))
	is.True(strings.Contains(out, "\nprovider.retry_schedule = [\"1m0s\", \"2m0s\", \"4m0s\", \"8m0s\"]\n"))
	is.True(strings.Contains(out, "\nprovider.app_secret = \"\"\n"))

	cfg, err := Load(Sources{File: writeFile(t, out)})
	is.NoErr(err) // it even is one
	is.Equal(cfg, Default())
}
