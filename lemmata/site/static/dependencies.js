// Below the mouse or the focus of a statement: the edges that lead to it, and the statements at their other ends.
document.querySelectorAll("svg.dependencies").forEach((picture) => {
  const edges = [...picture.querySelectorAll("path")].map((path) => [path, path.dataset.ends.split(" ")]);
  const names = [...picture.querySelectorAll("a[data-name]")];
  const show = (name) => {
    const near = new Set([name]);
    edges.forEach(([path, ends]) => {
      const joined = ends.includes(name);
      path.classList.toggle("near", joined);
      if (joined) ends.forEach((end) => near.add(end));
    });
    names.forEach((link) => link.classList.toggle("near", name !== null && near.has(link.dataset.name)));
    picture.classList.toggle("chosen", name !== null);
  };
  names.forEach((link) => {
    for (const event of ["mouseenter", "focus"]) link.addEventListener(event, () => show(link.dataset.name));
    for (const event of ["mouseleave", "blur"]) link.addEventListener(event, () => show(null));
  });
});
