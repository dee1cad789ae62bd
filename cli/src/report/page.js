// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Shows the data-tip of what is under the pointer.
const tip = document.getElementById("tip");
document.addEventListener("pointermove", (event) => {
  const owner = event.target.closest("[data-tip]");
  tip.style.opacity = owner ? 1 : 0;
  if (!owner) return;
  tip.textContent = owner.dataset.tip;
  const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
  const above = event.clientY + 18 + tip.offsetHeight > innerHeight;
  tip.style.left = left + "px";
  tip.style.top = (above ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18) + "px";
});
