"use strict";

function words(seconds) {
  const days = Math.floor(seconds / 86400), hours = Math.floor(seconds / 3600) % 24;
  const minutes = Math.floor(seconds / 60) % 60, rest = Math.floor(seconds) % 60;
  const two = (n) => String(n).padStart(2, "0");
  return (days ? days + (days === 1 ? " day " : " days ") : "") + two(hours) + ":" + two(minutes) + ":" + two(rest);
}

function countDown(place) {
  const left = (Date.parse(place.dataset.until) - Date.parse(place.dataset.now)) / 1000;
  const start = performance.now();
  const tick = () => {
    const rest = left - (performance.now() - start) / 1000;
    if (rest <= -1) { location.reload(); return; }
    place.textContent = words(Math.max(0, rest));
    setTimeout(tick, 1000);
  };
  tick();
}

function say(place, error) {
  place.textContent = "";
  const line = document.createElement("p");
  line.className = "problem";
  line.textContent = error.message;
  place.append(line);
  if (error.details && error.details.length) {
    const list = document.createElement("ul");
    list.className = "problems";
    for (const each of error.details) {
      const item = document.createElement("li");
      item.textContent = each;
      list.append(item);
    }
    place.append(list);
  }
}

function prepareUpload(form) {
  const file = form.querySelector("#file"), drop = form.querySelector("#drop");
  const progress = form.querySelector("#progress"), message = form.querySelector("#message");
  const button = form.querySelector("button");
  for (const kind of ["dragover", "dragenter"]) {
    drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  }
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files.length) { file.files = event.dataTransfer.files; }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const chosen = file.files[0];
    if (chosen.size > Number(form.dataset.most) * 1048576) {
      say(message, { message: "The file is too large: " + form.dataset.most + " MiB are allowed." });
      return;
    }
    send(form, chosen, { progress, message, button });
  });
}

function send(form, chosen, { progress, message, button }) {
  const request = new XMLHttpRequest();
  const label = encodeURIComponent(form.querySelector("#label").value);
  request.open("POST", form.dataset.target + "?label=" + label);
  request.setRequestHeader("Content-Type", "application/zip");
  request.setRequestHeader("Accept", "application/json");
  request.setRequestHeader("X-Form-Token", form.dataset.token);
  request.responseType = "json";
  button.disabled = true;
  progress.hidden = false;
  message.textContent = "";
  request.upload.addEventListener("progress", (event) => {
    if (event.lengthComputable) { progress.value = 100 * event.loaded / event.total; }
  });
  const failed = (error) => { button.disabled = false; progress.hidden = true; say(message, error); };
  request.addEventListener("error", () => failed({ message: "The connection was lost: send it again." }));
  request.addEventListener("load", () => {
    const answer = request.response;
    if (request.status < 300 && answer) { location.assign("/entries/" + answer.id); return; }
    failed(answer && answer.error ? answer.error : { message: "The server answered " + request.status + "." });
  });
  request.send(chosen);
}

function poll(place) {
  const ask = () => fetch(place.dataset.poll, { headers: { Accept: "application/json" } })
    .then((answer) => answer.json())
    .then((answer) => {
      if (answer.state !== "received" && answer.state !== "checking") { location.reload(); return; }
      place.textContent = answer.state;
      setTimeout(ask, 1000);
    })
    .catch(() => setTimeout(ask, 5000));
  setTimeout(ask, 700);
}

document.querySelectorAll(".countdown").forEach(countDown);
document.querySelectorAll("#upload").forEach(prepareUpload);
document.querySelectorAll("[data-poll]").forEach(poll);
