// Applies the theme that was chosen in this browser, before anything is painted.
try {
  const theme = localStorage.getItem("confab.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Where nothing may be kept, the system's setting counts.
}
