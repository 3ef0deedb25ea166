// Above tables: `<input type="search" data-filter>` hides the rows below it that lack one of its words.
for (const input of document.querySelectorAll("input[data-filter]")) {
  const tables = [...document.querySelectorAll(".md-content table")].filter(
    (table) => input.compareDocumentPosition(table) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/);
    for (const table of tables) {
      for (const row of table.tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
    }
  });
}
